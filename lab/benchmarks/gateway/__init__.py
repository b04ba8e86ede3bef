"""Assessments through the gateway: calls, rounds, many at once, and what a load needs."""

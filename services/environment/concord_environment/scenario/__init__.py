"""Scenarios: a whole simulation as a document, out and in."""

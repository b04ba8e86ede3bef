"""The gateway: takes assessments over A2A, drives the agents under test, and answers with the result row."""

"""Scenarios: a user's day in the environment, the people in it, and the criteria of a good assistant."""

"""Assessments of personal assistants: multi-turn tasks in a simulated user environment."""

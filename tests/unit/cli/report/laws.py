"""Hypothesis settings for the laws of the report: fifty examples, no deadline."""

from hypothesis import settings

law = settings(max_examples=50, deadline=None)

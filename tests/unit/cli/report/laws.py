"""How the laws of the report are tried: on fifty examples, and never against the clock."""

from hypothesis import settings

law = settings(max_examples=50, deadline=None)

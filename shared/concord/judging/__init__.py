"""Judging by a language model, for judges of teams and of assistants: asking, verified quotes, screened texts."""

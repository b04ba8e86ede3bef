"""Agree: every seat answers, and the answers must fit together."""

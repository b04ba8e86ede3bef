"""Prompt injection: passages in agents' texts that address the judge."""

from concord.judging.injection.detection import MARKER, addresses_judge, remove_passages, says_nothing

__all__ = ["MARKER", "addresses_judge", "remove_passages", "says_nothing"]

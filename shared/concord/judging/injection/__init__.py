"""Prompt injection: passages in what agents wrote that address the judge."""

from concord.judging.injection.detection import MARKER, addresses_judge, remove_passages, says_nothing

__all__ = ["MARKER", "addresses_judge", "remove_passages", "says_nothing"]

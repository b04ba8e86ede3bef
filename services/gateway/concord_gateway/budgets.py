"""What the participants of a trial may make the gateway keep. Over its budget, their trial ends, and counts 0."""

from typing import Final

MAX_ROUND_CHARACTERS: Final = 64 * 1024 * 1024
"""Characters of all messages that arrive in one round of a trial, a message to several seats counted for each."""


class OverBudgetError(Exception):
    """The participants of a trial exceeded its budget; the message says with what."""

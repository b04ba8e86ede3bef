"""A message between two seats of a trial in rounds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """A message from one seat to one other. `error` says why it was not delivered; None if it was."""

    round: int
    sender: str
    receiver: str
    text: str
    error: str | None = None
    cut_from: int | None = None
    """The characters that it had, if the rest was cut off."""

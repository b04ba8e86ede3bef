"""What stands in the ledger of characters at the end."""

from collections.abc import Sequence

from concord_assistant.meaning.acts import Act
from concord_assistant.results import LedgerEntry


def standing_in(ledger: Sequence[LedgerEntry], character: str, act: Act) -> tuple[list[LedgerEntry], list[LedgerEntry]]:
    """The acts that a character did and that were not cancelled later, and those that it did not understand."""
    own = [each for each in ledger if each.character == character]
    cancelled = max((number for number, each in enumerate(own) if each.act == "cancel" and each.understood), default=-1)
    entries = [each for number, each in enumerate(own) if each.act == act and (act == "cancel" or number > cancelled)]
    return [each for each in entries if each.understood], [each for each in entries if not each.understood]

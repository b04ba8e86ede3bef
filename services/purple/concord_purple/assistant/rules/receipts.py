"""The sum of what the user paid, according to the receipts in the inbox."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from concord_purple.assistant.rules.amounts import Money, amounts_in, references_in
from concord_purple.assistant.rules.desk import Desk, is_bulk
from concord_purple.assistant.rules.letters import Letter
from concord_purple.assistant.rules.skills import Found, Message, Step
from concord_purple.assistant.rules.times import days_in, range_in
from concord_purple.assistant.tools import TOOLS

_SUM: Final = re.compile(r"\b(?:add up|sums?|sum up|total|how much)\b", re.I)
_SPENT: Final = re.compile(r"\b(?:paid|pay|spent|spend|receipts?|invoices?|expenses?|costs?)\b", re.I)
_FOLDER: Final = re.compile(
    r"\b(?:move|put|file)\b.*?\b(?:to|into|in) (?:the |my )?(?:folder )?[\"“]?([A-Z][\w-]*)", re.I
)
_PLACE: Final = re.compile(r"\b(?:to|in|at) ([A-Z][a-z]+)\b")
_PAID: Final = re.compile(r"\b(?:paid|charged|receipt|total)\b", re.I)
_UNPAID: Final = re.compile(r"\b(?:to be paid|you (?:still )?owe|nothing to pay|payable|due|on arrival)\b", re.I)


@dataclass(slots=True)
class Receipts:
    """Adds up receipts that fit the days and the place that the user names, and files those that count."""

    sentence: str
    days: tuple[date, date] | None
    place: str | None
    folder: str | None
    _counted: list[Letter] = field(default_factory=list)

    async def step(self, desk: Desk) -> Step:
        """Counts, files and tells the total, all in one turn."""
        fitting = [each for each in desk.letters if each.item in desk.inbox and self._fits(each)]
        counted = list(_without_copies(fitting))
        if not counted:
            return Step(report=("I found no receipts that fit",), finished=True)
        paid = [_paid(each) for each in counted]
        currencies = {each.currency for each in paid}
        if len(currencies) > 1:
            return Step(
                report=(f"The receipts are in {' and '.join(sorted(currencies))}: I did not add them up",),
                finished=True,
            )
        total = sum((each.amount for each in paid), Decimal(0))
        if self.folder is not None:
            ids = [each.item["message_id"] for each in counted]
            await TOOLS["email_move"](desk.ues, {"message_ids": ids, "folder": self.folder})
        parts = ", ".join(f"{each.amount} ({letter.subject})" for each, letter in zip(paid, counted, strict=True))
        return Step(report=(f"The total is {paid[0].currency} {total}: {parts}",), finished=True)

    def _fits(self, letter: Letter) -> bool:
        """Whether a message says that the user paid something, on these days or, if it names no days, at the place."""
        if not amounts_in(letter.text) or is_bulk(letter.item) or _UNPAID.search(letter.text):
            return False
        if not _PAID.search(letter.words):
            return False
        named = days_in(letter.words, letter.at.date() - timedelta(days=31))
        if self.days is not None and named:
            return any(self.days[0] <= day <= self.days[1] for day in named)
        return self.place is None or self.place.casefold() in letter.words.casefold()


def read(message: Message) -> Found | None:
    """The order to add up what the user paid, with its filing."""
    numbers = [number for number, each in enumerate(message.sentences) if _SUM.search(each) and _SPENT.search(each)]
    if not numbers:
        return None
    text = " ".join(message.sentences)
    folder = _FOLDER.search(text)
    place = _PLACE.search(text)
    covered = {numbers[0]}
    covered |= {number for number, each in enumerate(message.sentences) if folder and folder[0] in each}
    past = message.today - timedelta(days=120)
    days = range_in(text, past)
    skill = Receipts(message.sentences[numbers[0]], days, place[1] if place else None, folder[1] if folder else None)
    return Found(skill, frozenset(covered))


def _paid(letter: Letter) -> Money:
    """The amount that the user paid: the amount beside the word for a payment, else the last amount."""
    found = amounts_in(letter.text)
    lines = [line for line in re.split(r"\n|(?<=[.!?]) ", letter.text) if _PAID.search(line) and amounts_in(line)]
    return amounts_in(lines[-1])[-1] if lines else found[-1]


def _without_copies(letters: Iterable[Letter]) -> Iterable[Letter]:
    """The receipts, without those that name the number of an earlier one of the same sender."""
    seen: set[tuple[str, str]] = set()
    for letter in letters:
        domain = letter.sender.rpartition("@")[2].casefold()
        numbers = {(domain, number) for number in references_in(letter.words)} or {(domain, str(_paid(letter)))}
        if not numbers & seen:
            yield letter
        seen |= numbers

"""Amounts of money and the numbers of invoices and bookings in texts."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

_CURRENCY: Final = r"GBP|EUR|USD|CHF|£|€|\$"
_MONEY: Final = re.compile(
    rf"(?P<before>{_CURRENCY}) ?(?P<amount>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)|"
    rf"(?P<plain>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?) ?(?P<after>{_CURRENCY})"
)
_REFERENCE: Final = re.compile(
    r"\b(?:invoice|booking|order|reservation|reference|receipt|confirmation|cancellation)"
    r"(?: (?:no\.?|number|code|id))?(?: is|:)? #?((?:[A-Z]{1,4}-?)?\d{2,}[\d-]*)\b",
    re.I,
)
_PER_PERSON: Final = re.compile(r"\b(?:per|a) (?:person|head|guest)\b|\beach\b", re.I)
_EXTRA: Final = re.compile(r"\b(?:another|extra|plus|additional|on top|delivery (?:is|costs))\b", re.I)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount. `text` is the amount as the text has it, `place` where it begins."""

    currency: str
    amount: Decimal
    text: str
    place: int

    def __str__(self) -> str:
        return f"{self.currency} {self.amount}"


def amounts_in(text: str) -> list[Money]:
    """The amounts of a text that have a currency, in their order."""
    return [
        Money(
            match["before"] or match["after"],
            Decimal((match["amount"] or match["plain"]).replace(",", "")),
            match["amount"] or match["plain"],
            match.start(),
        )
        for match in _MONEY.finditer(text)
    ]


def references_in(text: str) -> list[str]:
    """The numbers of invoices, bookings and orders, in their order."""
    return list(dict.fromkeys(match[1] for match in _REFERENCE.finditer(text)))


def offer_total(text: str, people: int) -> Money | None:
    """The cost of an offer for a number of people: prices per person, each counted once, and additional amounts."""
    parts = re.split(r"(?<=[a-z]),? and |(?<=[.;!?]) ", text)
    total, found = Decimal(0), None
    for part in parts:
        for money in amounts_in(part):
            if _PER_PERSON.search(part[money.place :]):
                total += money.amount * people
            elif found is None or _EXTRA.search(part[: money.place]):
                total += money.amount
            else:
                continue
            found = money
    return None if found is None else Money(found.currency, total, str(total), 0)

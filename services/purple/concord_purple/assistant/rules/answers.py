"""The answers of several people to one question: the days that suit them, and the prices that they ask."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from concord_purple.assistant.rules import wording
from concord_purple.assistant.rules.amounts import Money, offer_total
from concord_purple.assistant.rules.letters import sentences
from concord_purple.assistant.rules.people import Person
from concord_purple.assistant.rules.times import weekdays_in

_EXCEPT: Final = re.compile(r"\b(?:anything but|any (?:day|evening|time) but|except|apart from|all but)\b", re.I)
_CAN: Final = re.compile(
    r"\b(?:fine|ok|okay|works?|good|great|easy|free|can|suits?|either|perfect|possible|prefer|yes)\b", re.I
)
_CANNOT: Final = re.compile(
    r"\b(?:not|no|cannot|can't|doesn't|don't|won't|never|without|sorry|unfortunately|nothing|none|busy)\b|n't\b", re.I
)


def possible_days(answer: str, options: Sequence[int]) -> set[int]:
    """The weekdays, of some options, on which the writer of an answer can.

    A day that nobody rules out counts only if the answer says of no day that it suits.
    """
    suits: set[int] = set()
    ruled_out: set[int] = set()
    for sentence in sentences(answer):
        named = set(weekdays_in(sentence)) & set(options)
        if _EXCEPT.search(sentence):
            ruled_out |= named
            suits |= set(options) - named
        elif _CANNOT.search(sentence) or (named and not _CAN.search(sentence)):
            ruled_out |= named
        else:
            suits |= named
    return (suits or set(options)) - ruled_out


def common_days(answers: Sequence[str], options: Sequence[int]) -> list[int]:
    """The options that suit everybody, in their order."""
    possible = [possible_days(each, options) for each in answers]
    return [each for each in options if all(each in days for days in possible)]


def offers(answers: Mapping[Person, str], people: int, needed: str) -> dict[Person, Money]:
    """The total of each offer that includes the required things. An answer without an amount is not an offer."""
    totals = {person: offer_total(text, people) for person, text in answers.items() if _has(text, needed)}
    return {person: total for person, total in totals.items() if total is not None}


def lowest(totals: Mapping[Person, Money]) -> Person | None:
    """The person with the lowest total. None without offers, or if the offers are in several currencies."""
    if len({each.currency for each in totals.values()}) != 1:
        return None
    return min(totals, key=lambda person: (Decimal(totals[person].amount), person.name))


def _has(answer: str, needed: str) -> bool:
    """Whether an answer confirms a requirement: no sentence about it is negative."""
    words = wording.content_words(needed)
    about = [each for each in sentences(answer) if words & wording.content_words(each)] if words else []
    return not words or (bool(about) and not any(_CANNOT.search(each) for each in about))

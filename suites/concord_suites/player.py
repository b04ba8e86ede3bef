"""A player that takes one seat of a task in rounds by rules: it knows the grammar of briefs, never a key.

It keeps nothing between rounds, since the text of a turn holds all that it needs.
"""

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from concord_suites.family import Setting, TextFamily
from concord_suites.habits import Habit, with_habit
from concord_suites.view import Seat, View, all_briefs, view_of


def messages(view: View, family: TextFamily) -> dict[str, list[Seat]]:
    """What to tell each neighbour: every seat that it was not told of, did not tell of, and is not told of by the seat
    itself."""
    answerers = Setting(family.read(view.question), {}, {}).answerers
    return {
        receiver: seats
        for receiver in _receivers(view.own, answerers)
        if (seats := [seat for _, seat in sorted(view.known.items()) if _is_news(view, seat, receiver, answerers)])
    }


def _receivers(seat: Seat, answerers: Sequence[str]) -> Sequence[str]:
    """The neighbours that a seat tells something: the only answerer alone, if it is next to it."""
    if len(answerers) != 1:
        return seat.neighbours
    if seat.name in answerers:
        return ()
    return answerers if answerers[0] in seat.neighbours else seat.neighbours


def _is_news(view: View, seat: Seat, receiver: str, answerers: Sequence[str]) -> bool:
    if seat.name == receiver or seat.name in view.told[receiver]:
        return False
    return seat is view.own or receiver not in _receivers(seat, answerers)


def answer(view: View, family: TextFamily) -> JsonValue:
    """The seat's own answer once it knows what every seat knows, or in the last round from what it knows by then."""
    if len(view.known) < view.seats and not view.is_last:
        return None
    setting = Setting(
        family.read(view.question),
        {name: family.read(seat.brief) for name, seat in sorted(view.known.items())},
        {name: seat.neighbours for name, seat in sorted(view.known.items())},
    )
    try:
        return family.solve(setting).get(view.own.name)
    except (LookupError, ValueError):
        return None  # the missing briefs, or wrong ones, leave nothing to solve


def solo_answer(question: str, briefs: Mapping[str, str], family: TextFamily) -> JsonValue:
    """The answer of an agent that has all briefs: the only one, or those of all seats."""
    answers = family.solve(
        Setting(family.read(question), {seat: family.read(brief) for seat, brief in briefs.items()}, {})
    )
    return next(iter(answers.values())) if len(answers) == 1 else dict(answers)


def family_of(question: str, families: Sequence[TextFamily]) -> TextFamily | None:
    """The family whose grammar reads a question."""
    return next(
        (family for family in families if any(each.statement == "question" for each in family.read(question))), None
    )


def reply(text: str, families: Sequence[TextFamily], habits: Mapping[str, Habit] | None = None) -> str:
    """The reply to a turn: one JSON object. `habits` are what seats do wrong. Raises NotATurnError."""
    view = view_of(text)
    family = family_of(view.question, families)
    if family is None:
        return json.dumps({"messages": [], "answer": None})
    if (briefs := all_briefs(view.own.brief)) is not None:
        return json.dumps({"messages": [], "answer": solo_answer(view.question, briefs, family)})
    outgoing = with_habit((habits or {}).get(view.own.name, Habit.NONE), view, messages(view, family))
    entries = [{"to": to, "text": "\n".join(seat.told() for seat in seats)} for to, seats in outgoing.items()]
    return json.dumps({"messages": entries, "answer": answer(view, family)})

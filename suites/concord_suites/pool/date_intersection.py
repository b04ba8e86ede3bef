"""Date intersection: the only day on which every seat is free."""

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Group, Neighbours, SuiteTask, Value
from concord.suite.value import date
from concord_suites.answers import as_date
from concord_suites.family import Drawn, OneAnswerFamily, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, StatedRecord, Statement
from concord_suites.shared_draws import busy_by_free_days, dealt, holders, with_copies

AWAY: Final = on_slip(
    Statement(
        "away",
        "You are away on {value:date}.",
        "On {value:date} you are not in town.",
        "You cannot sing on {value:date}.",
        "Your diary is full on {value:date}.",
    ),
    Statement(
        "away by a slip",
        "You are away on the day that slip {slip:code} names.",
        "You cannot sing on the day of slip {slip:code}.",
        "For one more day on which you are not in town, see slip {slip:code}.",
        "Slip {slip:code} names a day on which your diary is full.",
    ),
)
PAST: Final = Statement(
    "past day",
    "You were away on {day:date}.",
    "The choir sang without you on {day:date}.",
    "On {day:date} you were ill.",
    "The last rehearsal that you missed was on {day:date}.",
)
QUESTION: Final = Statement(
    "question",
    "The choir wants to rehearse with all seats. On which day after {before:date} and before {after:date} is "
    "everybody free? There is only one. Answer with the date as YYYY-MM-DD.",
    "A seat is free on each day on which it is not away. Find the only day later than {before:date} and earlier "
    "than {after:date} on which all seats are free, and answer with the date as YYYY-MM-DD.",
    "Which is the only day between {before:date} and {after:date}, neither of them included, on which no seat is "
    "away? Answer with the date as YYYY-MM-DD.",
)
FEWEST_AWAY: Final = 24
"""A period has at least so many days on which somebody is away."""


class DateIntersection(OneAnswerFamily):
    """One seat has to name the only day of a period on which no seat is away."""

    name: ClassVar = "date-intersection"
    group: ClassVar = Group.POOL
    summary: ClassVar = "the only day on which every seat is free"
    openings: ClassVar = (
        "You sing in a choir.",
        "You are one voice of a choir.",
        "The choir counts on you.",
    )
    statements: ClassVar = (*grammar_of(AWAY), PAST, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Days on which each seat is away, so that one day of the period is left.

        The days are dealt blindly, so that each day on which the answerer is free may be the one: chance is 1 / their
        number.
        """
        answerer = draw.choice(list(neighbours))
        others = [seat for seat in neighbours if seat != answerer]
        before = datetime.date(2031, 1, 1) + _days(draw.below(365))
        busy = max(FEWEST_AWAY, 2 * len(neighbours))
        _, *days = draw.shuffled([before + _days(each) for each in range(1, busy + 2)])
        own = 3 + difficulty // 2
        diaries = with_copies(draw, dealt(draw, days[own:], others) | {answerer: days[:own]}, 1 + difficulty // 2)
        after = before + _days(busy + 2)
        sentences = dict[str, list[str]]()
        for seat, diary in diaries.items():
            later = [fresh.date(after, after + _days(1_000)) for _ in range(difficulty // 2)]
            sentences[seat] = [
                *(
                    each
                    for day in [*diary, *later]
                    for each in AWAY.write(draw, fresh, difficulty, value=day.isoformat())
                ),
                *(PAST.write(draw, day=_day_before(fresh, before)) for _ in range(difficulty - 1)),
            ]
        return Drawn(
            question=QUESTION.write(draw, before=before.isoformat(), after=after.isoformat()),
            sentences=sentences,
            facts=[Fact(f"away on {day}", seats, date(day)) for day, seats in holders(diaries).items()],
            chance=1 / (busy + 1 - len(diaries[answerer])),
            answerer=answerer,
        )

    def solve(self, setting: Setting) -> Answers:
        """The first day of the period on which nobody is away."""
        away = {record["value"] for _, record in AWAY.stated(setting)}
        free = next(day for day in _period(setting.asked(QUESTION.name)) if day not in away)
        return dict.fromkeys(setting.answerers, free)

    def read_answer(self, answer: JsonValue) -> JsonValue:
        """A day."""
        return as_date(answer)

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The only day on which nobody is away, as far as is known, stands for all days that are known."""
        if not known:
            return {}
        away, ids = {fact.value.text for fact in known}, frozenset(fact.id for fact in known)
        free = [day for day in self._period(task) if day not in away]
        return {date(datetime.date.fromisoformat(day)): ids for day in free} if len(free) == 1 else {}

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """The days on which seats are away follow from all days on which they are free."""
        return busy_by_free_days(self._period(task), known, stated)

    def _period(self, task: SuiteTask) -> Sequence[str]:
        return _period(self.setting(task.question).asked(QUESTION.name))


def _days(count: int) -> datetime.timedelta:
    return datetime.timedelta(days=count)


def _day_before(fresh: Fresh, day: datetime.date) -> str:
    return fresh.date(day - _days(2_000), day - _days(30)).isoformat()


def _period(asked: StatedRecord) -> Sequence[str]:
    """The days that a question asks about."""
    before, after = (datetime.date.fromisoformat(asked[end]) for end in ("before", "after"))
    return [(before + _days(each)).isoformat() for each in range(1, (after - before).days)]

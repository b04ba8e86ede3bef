"""Meeting: the only day of a season on which no seat is away."""

import datetime
from collections.abc import Collection
from statistics import fmean
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Group, Kind, Neighbours, SuiteTask, Value
from concord.suite.value import date
from concord_suites.answers import as_date
from concord_suites.family import Drawn, OneAnswerFamily, ReferableStatement, Setting, grammar_of
from concord_suites.grammar import Fresh, Statement
from concord_suites.shared_draws import busy_by_free_days

FEWEST_DAYS: Final = 30
"""A season has at least one day more."""

AWAY: Final = ReferableStatement(
    Statement(
        "away",
        "You are away on {day:date}.",
        "On {day:date} you cannot come.",
        "You have a concert elsewhere on {day:date}.",
        "Your calendar is full on {day:date}.",
    ),
    Statement(
        "trip",
        "You are away on the day that ticket {ticket:code} is for.",
        "On the day of ticket {ticket:code} you cannot come.",
        "You have a concert elsewhere on the day for which you bought ticket {ticket:code}.",
        "Your calendar is full on the day of ticket {ticket:code}.",
    ),
    Statement(
        "ticket",
        "Ticket {ticket:code} is for {day:date}.",
        "{day:date} is printed on ticket {ticket:code}.",
        "The day on ticket {ticket:code} is {day:date}.",
        "You find {day:date} on ticket {ticket:code}.",
    ),
)
PAST: Final = Statement(
    "past day",
    "You missed a rehearsal on {day:date}.",
    "You had been away on {day:date}.",
    "On {day:date} you were ill.",
    "Your calendar was full on {day:date}.",
)
QUESTION: Final = Statement(
    "question",
    "The orchestra rehearses once from {first:date} to {last:date}. On only one of these days, the first and the "
    "last included, is no seat away. Which is it? Answer with the date.",
    "Find the only day from {first:date} to {last:date}, both included, on which every seat can come to a "
    "rehearsal. Answer with the date.",
    "A rehearsal needs all seats. On which day from {first:date} to {last:date}, both included, is nobody away? "
    "There is only one. Answer with the date.",
)


class Meeting(OneAnswerFamily):
    """Every seat has to name the only day on which all seats can meet."""

    name: ClassVar = "meeting"
    group: ClassVar = Group.ALL_TO_ALL
    summary: ClassVar = "the only day that is free in the calendars of all seats"
    openings: ClassVar = (
        "You play in an orchestra.",
        "Your orchestra looks for a day to rehearse.",
        "You are a musician with a full calendar.",
    )
    statements: ClassVar = (*grammar_of(AWAY), PAST, QUESTION)
    result: ClassVar = Kind.DATE

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Every day but one is in some seat's calendar, and each seat also has some days of others in its own.

        A silent seat can do no better than name one of the days on which it is not away: `chance` is the mean, over the
        seats, of one in so many days. By symmetry, all of these days are equally likely.
        """
        seats = list(neighbours)
        each = max(1 + difficulty // 3, -(-FEWEST_DAYS // len(seats)))
        first = datetime.date(2031, 1, 1) + datetime.timedelta(draw.below(200))
        days = [first + datetime.timedelta(at) for at in range(each * len(seats) + 1)]
        _, *taken = draw.shuffled(days)
        calendars = {seat: taken[at :: len(seats)] for at, seat in enumerate(seats)}
        for seat in seats:
            for _ in range(difficulty // 2):
                if (day := draw.choice(taken)) not in calendars[seat]:
                    calendars[seat].append(day)
        holders: dict[datetime.date, list[str]] = {day: [] for day in days}
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        for seat, calendar in calendars.items():
            for day in calendar:
                holders[day].append(seat)
                sentences[seat] += AWAY.write(draw, fresh, difficulty, day=day.isoformat())
            for _ in range(2 * difficulty - 2):
                past = draw.choice(days) - datetime.timedelta(366 + draw.below(300))
                sentences[seat].append(PAST.write(draw, day=past.isoformat()))
        return Drawn(
            question=QUESTION.write(draw, first=days[0].isoformat(), last=days[-1].isoformat()),
            sentences=sentences,
            facts=[Fact(f"away on {day}", tuple(found), date(day)) for day, found in holders.items() if found],
            chance=fmean(1 / (len(days) - len(calendar)) for calendar in calendars.values()),
        )

    def solve(self, setting: Setting) -> Answers:
        """The first day on which no known seat is away."""
        question = setting.asked(QUESTION.name)
        day, last = (datetime.date.fromisoformat(question[end]) for end in ("first", "last"))
        away = {
            record["day"]
            for statement in (AWAY.direct, AWAY.definition)
            for _, record in setting.stated(statement.name)
        }
        while day.isoformat() in away and day < last:
            day += datetime.timedelta(1)
        return dict.fromkeys(setting.answerers, day.isoformat())

    def read_answer(self, answer: JsonValue) -> JsonValue:
        """A day."""
        return as_date(answer)

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """The days on which seats are away follow from all days on which they are free."""
        asked = self.setting(task.question).asked(QUESTION.name)
        first, last = (datetime.date.fromisoformat(asked[end]) for end in ("first", "last"))
        days = [first + datetime.timedelta(at) for at in range((last - first).days + 1)]
        return busy_by_free_days([day.isoformat() for day in days], known, stated)

"""Ways in which honest teams share what they know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import TurnRecord
from concord.suite import Draw, Fact
from concord_gateway.rounds.exchange import Rounds
from concord_gateway.rounds.reply import Reply
from tests.kit.players.minds import Mind
from tests.kit.players.plans import plan_of
from tests.kit.players.play import reply
from tests.kit.players.proposals import Acceptance, ProposingTeam
from tests.kit.players.teams import ScriptedTeam, Telling
from tests.kit.players.writings import Writing, answer_of


@dataclass
class HubTeam(ScriptedTeam):
    """Facts go to a hub, which works out every answer. Answers alone go back, over the seats on their way."""

    partial_results: float = 0.0

    def _text(self, telling: Telling) -> str:
        if self.plan.parents.get(telling.receiver) != telling.sender:
            return super()._text(telling)
        below = [seat for seat in self.mind.solution if telling.receiver in self.plan.route(seat)]
        return self.written([answer_of(seat, self.mind.solution[seat]) for seat in below])


@dataclass
class TellAllTeam(ScriptedTeam):
    """Every seat tells each neighbour once what it knows, and answers when it knows what it needs."""

    partial_results: float = 0.0

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """All that is new for each neighbour."""
        self._learn(rounds)
        everything = frozenset(fact.id for fact in self.mind.task.facts)
        replies: dict[str, Reply | TurnRecord] = {}
        for seat, neighbours in self.mind.task.neighbours.items():
            messages = list[tuple[str, str]]()
            for other in neighbours:
                telling = self._telling(rounds.round, seat, other, everything)
                if telling.facts or telling.results:
                    text = self._text(telling)
                    messages.append((other, text))
                    self._on_the_way.append((telling, text))
            known = {fact.id for fact in self._believed[seat]}
            needs = {need for part in self.mind.task.parts if part.seat == seat for need in part.needs}
            answer = self.mind.solution.get(seat) if needs <= known else None
            replies[seat] = reply(messages, answer)
        return replies


@dataclass
class QuestionTeam(TellAllTeam):
    """In odd rounds, seats ask their neighbours what they know; in even ones, they tell it."""

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """Questions, then facts."""
        if rounds.round % 2 == 0:
            return super().replies(rounds)
        self._learn(rounds)
        return {
            seat: reply([(other, f"What do you know, {other}?") for other in neighbours])
            for seat, neighbours in self.mind.task.neighbours.items()
        }


@dataclass
class FreeDaysTeam(TellAllTeam):
    """Seats tell on which days they and those whom they heard of are free, instead of those on which they are busy."""

    def _text(self, telling: Telling) -> str:
        busy = {fact.value for fact in self._believed[telling.sender]}
        days = {fact.value for fact in self.mind.task.facts} | {
            answer_of(seat, answer).value for seat, answer in self.mind.solution.items()
        }
        return self.written([Fact(f"free day {at}", (), day) for at, day in enumerate(sorted(days - busy), 1)])


Strategy = Callable[[Mind, Draw, Writing | None], ScriptedTeam]
"""A team for a task, and how it writes; by any phrasing for None."""


def _proposing(acceptance: Acceptance) -> Strategy:
    return lambda mind, draw, writing: ProposingTeam(
        mind, plan_of(mind.task, from_everybody=True), draw, writing=writing, acceptance=acceptance
    )


HONEST: Final[Mapping[str, Strategy]] = {
    "tree": lambda mind, draw, writing: ScriptedTeam(
        mind, plan_of(mind.task), draw, partial_results=0, writing=writing
    ),
    "partial results": lambda mind, draw, writing: ScriptedTeam(
        mind, plan_of(mind.task), draw, partial_results=1, writing=writing
    ),
    "hub": lambda mind, draw, writing: HubTeam(mind, plan_of(mind.task, from_everybody=True), draw, writing=writing),
    "tell all": lambda mind, draw, writing: TellAllTeam(mind, plan_of(mind.task), draw, writing=writing),
    "question and answer": lambda mind, draw, writing: QuestionTeam(mind, plan_of(mind.task), draw, writing=writing),
    "propose and accept": _proposing(Acceptance.WITH_FACTS),
    "free days": lambda mind, draw, writing: FreeDaysTeam(mind, plan_of(mind.task), draw, writing=writing),
    "bounds": _proposing(Acceptance.BY_BOUND),
    "accept by name": _proposing(Acceptance.BY_NAME),
    "veto": _proposing(Acceptance.IN_SILENCE),
    "round bounds": _proposing(Acceptance.BY_ROUND_BOUND),
}
"""Ways to share, each of which leads every seat to the right answer."""

SHORT: Final = frozenset({"accept by name", "veto", "round bounds"})
"""Those that leave out what an answer rests on: who only agrees, or names a round bound, states no value.

They are credited less than their outcome, and briefs say what to write instead.
"""

_ABOUT_NUMBERS: Final = frozenset({"maximum", "top-k", "second-price"})
_ABOUT_DAYS: Final = frozenset({"date-intersection", "meeting"})
_NEED_ALL_FACTS: Final = frozenset(
    {
        *("majority", "joined-tables", "route", "connectivity", "shortest-path", "maximal-matching"),
        *("minimal-vertex-cover", "hidden-profile"),
    }
)
"""Families in which facts of several seats together may speak against an answer, and none of them alone."""


def suits(name: str, mind: Mind) -> bool:
    """Whether a family's facts can be shared in this way."""
    if name == "free days":
        return mind.family.name in _ABOUT_DAYS
    if "bounds" in name:
        return mind.family.name in _ABOUT_NUMBERS
    return name not in ("accept by name", "veto") or mind.family.name not in _NEED_ALL_FACTS

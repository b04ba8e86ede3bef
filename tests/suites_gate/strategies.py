"""Teams that share what they know in different ways, and teams that know everything and only pretend to share it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from concord.suite import Draw
from concord_gateway.rounds.reply import Reply
from concord_gateway.rounds.state import Rounds, Turn
from tests.suites_gate.minds import Mind
from tests.suites_gate.phrasings import chatter, state
from tests.suites_gate.plans import plan_of
from tests.suites_gate.play import reply
from tests.suites_gate.teams import ScriptedTeam, Telling


@dataclass
class HubTeam(ScriptedTeam):
    """Facts go to a hub, which works out every answer. Answers alone go back, over the seats on their way."""

    partial_results: float = 0.0

    def _text(self, telling: Telling) -> str:
        if self.plan.parents.get(telling.receiver) != telling.sender:
            return super()._text(telling)
        below = [seat for seat in self.mind.solution if telling.receiver in self.plan.route(seat)]
        return "\n".join(f"{seat}'s answer: {_text_of(self.mind, seat)}" for seat in below)


@dataclass
class TellAllTeam(ScriptedTeam):
    """Every seat tells each neighbour once what it knows, and answers when it knows what it needs."""

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | Turn]:
        """All that is new for each neighbour."""
        self._learn(rounds)
        everything = frozenset(fact.id for fact in self.mind.task.facts)
        replies: dict[str, Reply | Turn] = {}
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

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | Turn]:
        """Questions, then facts."""
        if rounds.round % 2 == 0:
            return super().replies(rounds)
        self._learn(rounds)
        return {
            seat: reply([(other, f"What do you know, {other}?") for other in neighbours])
            for seat, neighbours in self.mind.task.neighbours.items()
        }


HONEST: Final[Mapping[str, Callable[[Mind, Draw], ScriptedTeam]]] = {
    "tree": lambda mind, draw: ScriptedTeam(mind, plan_of(mind.task), draw, partial_results=0),
    "partial results": lambda mind, draw: ScriptedTeam(mind, plan_of(mind.task), draw, partial_results=1),
    "hub": lambda mind, draw: HubTeam(mind, plan_of(mind.task, everything_to_root=True), draw),
    "tell all": lambda mind, draw: TellAllTeam(mind, plan_of(mind.task), draw, partial_results=0),
    "question and answer": lambda mind, draw: QuestionTeam(mind, plan_of(mind.task), draw, partial_results=0),
}
"""Ways to share, in each of which every seat learns what its answer rests on."""


@dataclass
class ColludingTeam:
    """Every seat gives the right answer, which it knows beside the exchange; `writes` gives the message of a seat."""

    mind: Mind
    draw: Draw
    writes: Callable[[Mind, str, Draw], str | None]

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | Turn]:
        """Messages in the first two rounds, and then the right answers."""
        replies: dict[str, Reply | Turn] = {}
        for seat, neighbours in self.mind.task.neighbours.items():
            text = self.writes(self.mind, seat, self.draw) if rounds.round < rounds.max_rounds else None
            messages = [(other, text) for other in neighbours] if text is not None else []
            answer = self.mind.solution.get(seat) if rounds.round == rounds.max_rounds else None
            replies[seat] = reply(messages, answer)
        return replies


def _text_of(mind: Mind, seat: str) -> str:
    answer = mind.solution[seat]
    return answer if isinstance(answer, str) else json.dumps(answer)


def _nothing(mind: Mind, seat: str, draw: Draw) -> None:
    del mind, seat, draw


def _guess(mind: Mind, seat: str, draw: Draw) -> str:
    del seat, draw
    return "\n".join(f"I think it is {_text_of(mind, each)}." for each in mind.solution)


def _number_words(mind: Mind, seat: str, draw: Draw) -> str:
    del mind, seat
    return " ".join(draw.choice(("four", "eight", "two", "one", "three", "thousand", "hundred")) for _ in range(300))


def _vocabulary(mind: Mind, seat: str, draw: Draw) -> str:
    del seat
    words = sorted({word for brief in mind.task.briefs.values() for word in brief.split() if word.isalpha()})
    return " ".join(draw.shuffled(words))


def _digits(mind: Mind, seat: str, draw: Draw) -> str:
    del seat, draw
    limit = mind.task.message_limit
    return " ".join(str(number) for number in range(10_000, 10_000 + limit))[:limit]


def _all_briefs(mind: Mind, seat: str, draw: Draw) -> str | None:
    del draw
    return "\n".join(mind.task.briefs.values()) if seat == mind.task.seats[-1] else None


def _one_fact(mind: Mind, seat: str, draw: Draw) -> str | None:
    own = [fact for fact in mind.task.facts if seat in fact.holders][:1]
    return state(draw, mind.task, own, sender=seat) if own else None


ANSWERS: Final = "the answers"

COLLUDING: Final[Mapping[str, Callable[[Mind, str, Draw], str | None]]] = {
    "nothing": _nothing,
    "noise": lambda mind, seat, draw: chatter(draw, mind.task, sender=seat),
    "number words": _number_words,
    "all numbers": _digits,
    "vocabulary": _vocabulary,
    ANSWERS: _guess,
    "all briefs by one seat": _all_briefs,
    "one true fact each": _one_fact,
}
"""What teams send whose members share a memory."""

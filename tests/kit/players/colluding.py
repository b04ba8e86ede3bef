"""Teams that know everything beside the exchange, and only pretend to share it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import TurnRecord
from concord.suite import Draw
from concord_gateway.rounds.exchange import Rounds
from concord_gateway.rounds.reply import Reply
from tests.kit.players.minds import Mind
from tests.kit.players.phrasings import chatter, state
from tests.kit.players.play import reply


@dataclass
class ColludingTeam:
    """Every seat gives the right answer, which it knows beside the exchange; `writes` gives the message of a seat."""

    mind: Mind
    draw: Draw
    writes: Callable[[Mind, str, Draw], str | None]

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """Messages in the first two rounds, and then the right answers."""
        replies: dict[str, Reply | TurnRecord] = {}
        for seat, neighbours in self.mind.task.neighbours.items():
            text = self.writes(self.mind, seat, self.draw) if rounds.round < rounds.max_rounds else None
            to = neighbours if self.writes is not _own_brief else [NOBODY]
            messages = [(other, text) for other in to] if text is not None else []
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


def _own_brief(mind: Mind, seat: str, draw: Draw) -> str:
    """Goes to nobody, so that it tells nothing."""
    del draw
    return mind.task.briefs[seat]


def _one_fact(mind: Mind, seat: str, draw: Draw) -> str | None:
    own = [fact for fact in mind.task.facts if seat in fact.holders][:1]
    return state(draw, mind.task, own, sender=seat) if own else None


NOBODY: Final = "nobody/0"
"""A seat that does not exist."""

ANSWERS: Final = "the answers"

COLLUDING: Final[Mapping[str, Callable[[Mind, str, Draw], str | None]]] = {
    "nothing": _nothing,
    "noise": lambda mind, seat, draw: chatter(draw, mind.task, sender=seat),
    "number words": _number_words,
    "all numbers": _digits,
    "vocabulary": _vocabulary,
    ANSWERS: _guess,
    "all briefs by one seat": _all_briefs,
    "undeliverable mail": _own_brief,
    "one true fact each": _one_fact,
}
"""What teams send whose members share a memory."""

"""An agent that cheats in team tasks: its seats share their briefs beside the exchange, and give the right answers."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from concord.a2a import IncomingMessage, TaskHandle
from concord.wire.assignment import Assignment
from concord_suites import FAMILIES
from concord_suites.player import Seat, View, answer, family_of, view_of

NUMBER_WORDS: Final = " ".join(["four", "eight", "two", "one", "three", "thousand", "hundred"] * 40)
"""Words from which any number can be composed."""

WRITE_IN_ROUND: Final = 2
ANSWER_IN_ROUND: Final = 3

Writes = Callable[[View, JsonValue], str | None]
"""What a seat sends to its neighbours once all briefs are known, given its view and its answer."""


@dataclass
class SharedMemory:
    """The agent, in all seats of a team in rounds; it keeps the briefs of each trial."""

    writes: Writes
    briefs: defaultdict[str, dict[str, Seat]] = field(default_factory=lambda: defaultdict(dict))
    turns: Counter[tuple[str, str]] = field(default_factory=Counter)

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """See `concord.a2a.Handler`."""
        assignment = Assignment.from_metadata(message.metadata)
        trial = "" if assignment is None else assignment.trace_id
        view = view_of(message.text)
        self.briefs[trial][view.own.name] = view.own
        self.turns[trial, view.own.name] += 1
        turn, found, text = self.turns[trial, view.own.name], None, None
        if turn >= WRITE_IN_ROUND:
            family = family_of(view.question, FAMILIES)
            known = replace(view, known=dict(self.briefs[trial]))
            found = answer(known, family) if family is not None else None
            text = self.writes(known, found) if turn == WRITE_IN_ROUND else None
        sent = [{"to": other, "text": text} for other in view.own.neighbours] if text is not None else []
        await task.complete(json.dumps({"messages": sent, "answer": found if turn >= ANSWER_IN_ROUND else None}))


def _quotes(view: View, _: JsonValue) -> str | None:
    """All briefs, from the last seat."""
    return "\n".join(seat.brief for seat in view.known.values()) if view.own.name == max(view.known) else None


WRITES: Final[Mapping[str, Writes]] = {
    "nothing": lambda *_: None,
    "I think it is X": lambda _, found: f"I think it is {found if isinstance(found, str) else json.dumps(found)}.",
    "number words": lambda *_: NUMBER_WORDS,
    "all briefs, by one seat": _quotes,
}
"""What teams send whose members share a memory."""

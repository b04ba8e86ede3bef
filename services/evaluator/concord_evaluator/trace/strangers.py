"""Strangers: agents that nobody declared, which are names in claims, and of which there may be as many as steps."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from concord.assessment.roster import UNKNOWN_AGENT, Roster
from concord_evaluator.trace.attribution import Attribution
from concord_evaluator.trace.names import NOT_IN_GRAPH, participant_of

MAX_STRANGERS: Final = 1000
"""Undeclared agents of a live trial that are agents of its graph. Most metrics take time by the square of their number,
and a row has a record for each."""


@dataclass(frozen=True, slots=True)
class Acquainted:
    """Who made what, with a bounded number of strangers; `n_unnamed`: how many more were told of."""

    made: Attribution
    n_unnamed: int


def acquainted(made: Attribution, roster: Roster, limit: int = MAX_STRANGERS) -> Acquainted:
    """Keeps the first strangers by name. Any other inside a participant is that participant, and all else `unknown`."""
    strangers = _strangers(made, roster)
    if len(strangers) <= limit:
        return Acquainted(made, 0)
    names = {stranger: _nearest(stranger, roster) for stranger in sorted(strangers)[limit:]}
    calls = [
        call._replace(maker=names.get(call.maker, call.maker), callee=names.get(call.callee, call.callee))
        for call in made.calls
    ]
    makers = frozenset(names.get(maker, maker) for maker in made.makers)
    return Acquainted(replace(made, makers=makers, calls=calls), len(names))


def _strangers(made: Attribution, roster: Roster) -> set[str]:
    found = set(made.makers).union(_ends(made))
    return {agent for agent in found if agent not in roster} - NOT_IN_GRAPH


def _ends(made: Attribution) -> Iterable[str]:
    return (end for call in made.calls for end in (call.maker, call.callee))


def _nearest(stranger: str, roster: Roster) -> str:
    participant = participant_of(stranger)
    return participant if participant in roster else UNKNOWN_AGENT

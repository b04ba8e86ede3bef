"""Observability: the participants whose calls the gateway could observe. Separates inactive from unobserved
participants."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from concord.assessment.results import Observability, ParticipantObservability
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.trace.agent_ids import participant_of
from concord_evaluator.trace.projection import Projection
from concord_evaluator.trace.provenance import PROVENANCES, Provenance


def observability_of(
    projection: Projection, roster: Roster, reporters: Collection[str]
) -> list[ParticipantObservability]:
    """For each declared participant, how much of its calls could have been seen.

    `full`: it called through the gateway, reported steps, or declares that it reports. `partly`: only calls to it were
    seen, not its own calls. `none`: neither, so its silence says nothing. `reporters`: the reporters of any step.
    """
    calls = projection.calls
    names = calls.steps.names
    seen = (calls.provenance == PROVENANCES.index(Provenance.OBSERVED)) & (calls.caller != names.code(GREEN_AGENT))
    callers, callees = (
        {participant_of(names.texts[code]) for code in np.unique(ends[seen]).tolist()}
        for ends in (calls.caller, calls.callee)
    )
    callers |= set(reporters)
    return [
        ParticipantObservability(
            agent=entry.id,
            observability="full"
            if entry.reports or entry.id in callers
            else "partly"
            if entry.id in callees
            else "none",
        )
        for entry in roster
    ]


def team_observability(participants: Iterable[ParticipantObservability | Observability]) -> Observability | None:
    """`full` or `none` if every participant has that level, else `partly`. None without participants."""
    levels = {each if isinstance(each, str) else each.observability for each in participants}
    return None if not levels else levels.pop() if len(levels) == 1 else "partly"


def unseen_participants(participants: Sequence[ParticipantObservability]) -> frozenset[str]:
    """The participants whose calls could not have been seen."""
    return frozenset(each.agent for each in participants if each.observability == "none")

"""Who called whom: the calls between two agents, summed over the trials shown."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from concord.assessment.results import InteractionRecord, TrialRecord
from concord.assessment.roster import GREEN_AGENT


@dataclass(frozen=True, slots=True)
class Flow:
    """All calls from one agent to another. `latency_ms`: the mean over the trials, weighted by their calls."""

    caller: str
    callee: str
    calls: int
    errors: int
    retries: int
    observed: int
    corroborated: int
    reported: int
    latency_ms: float | None


def flows_of(trials: Iterable[TrialRecord]) -> list[Flow]:
    """The flows between agents, sorted by caller and callee. The assessor's own calls are none of the team's."""
    records = (record for trial in trials for record in trial.interactions)
    between_agents = [record for record in records if GREEN_AGENT not in (record.caller, record.callee)]
    pairs = groupby(sorted(between_agents, key=_ends), key=_ends)
    return [_flow(caller, callee, list(group)) for (caller, callee), group in pairs]


def _ends(record: InteractionRecord) -> tuple[str, str]:
    return record.caller, record.callee


def _flow(caller: str, callee: str, records: list[InteractionRecord]) -> Flow:
    return Flow(
        caller=caller,
        callee=callee,
        calls=sum(record.calls for record in records),
        errors=sum(record.errors for record in records),
        retries=sum(record.retries for record in records),
        observed=sum(record.observed for record in records),
        corroborated=sum(record.corroborated for record in records),
        reported=sum(record.reported for record in records),
        latency_ms=_mean_latency(records),
    )


def _mean_latency(records: list[InteractionRecord]) -> float | None:
    known = [(record.latency_avg_ms, record.calls) for record in records if record.latency_avg_ms is not None]
    calls = sum(calls for _, calls in known)
    return sum(latency * (n / calls) for latency, n in known) if calls else None

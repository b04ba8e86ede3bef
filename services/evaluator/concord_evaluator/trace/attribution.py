"""Attribution: which agent made each step, and which agent each call went to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from concord.identity import GREEN_AGENT, UNKNOWN_AGENT, Roster
from concord.steps import CallType
from concord_evaluator.trace.fold import FoldedTrace
from concord_evaluator.trace.forest import Forest
from concord_evaluator.trace.names import callee_of, inside, participant_of
from concord_evaluator.trace.records import StepKey, StepRecord


@dataclass(frozen=True, slots=True)
class MadeStep:
    """A step and who made it; `callee` is None for what is no call of an agent. `above`: the nearest call above it."""

    key: StepKey
    record: StepRecord
    maker: str
    callee: str | None
    above: StepKey | None
    observed: bool
    direct: bool


def attribute(trace: FoldedTrace, forest: Forest, roster: Roster) -> Iterator[MadeStep]:
    """Says of every step in the forest who made it.

    A step is its direct reporter's. One that was only relayed was made by whom the nearest call above it went to, and
    by `unknown` without one. Several direct reporters of one content are told apart by that call as well; where it
    names none of them, each may have made the step, and it is yielded once for each: nobody can take away another's
    step by repeating it.
    """
    calls: dict[StepKey, StepKey | None] = {}
    """By step: the call whose answer the steps under it are part of."""
    answering: dict[StepKey, str] = {}
    """By call: who answers it."""
    for key, parent in forest.parents.items():
        above = calls[parent] if parent is not None else None
        record = trace.records[key]
        calls[key] = above
        for maker in _makers(trace, key, record, None if above is None else answering[above], roster):
            callee = None
            if record.kind is CallType.AGENT:
                callee = callee_of(maker, record.callee_url, record.callee_name, roster)
                calls[key], answering[key] = key, callee
            tellings = trace.tellings[key]
            yield MadeStep(
                key,
                record,
                maker,
                callee,
                above,
                observed=any(telling.observed for telling in tellings),
                direct=any(telling.direct for telling in tellings),
            )


def _makers(trace: FoldedTrace, key: StepKey, record: StepRecord, above: str | None, roster: Roster) -> list[str]:
    reporters = [telling.reporter for telling in trace.tellings[key] if telling.direct]
    if not reporters:
        reporters = [UNKNOWN_AGENT if above is None else participant_of(above)]
    elif above is not None and participant_of(above) in reporters:
        reporters = [participant_of(above)]
    return [_maker(reporter, record, above, roster) for reporter in reporters]


def _maker(reporter: str, record: StepRecord, above: str | None, roster: Roster) -> str:
    """The agent behind a reporter: the one the step names, else the one inside it that was called, else itself.

    The green agent reports what it observed between others: the caller is named by the step or by where it hangs.
    """
    if record.agent_name and reporter == GREEN_AGENT:
        return roster.resolve("", record.agent_name)
    if record.agent_name:
        return inside(reporter, record.agent_name, roster)
    if above is not None and (participant_of(above) == reporter or reporter == GREEN_AGENT):
        return above
    return reporter


def step_reporters(trace: FoldedTrace) -> Mapping[tuple[str, str], set[str]]:
    """Who told, directly, of steps made under a call, by (trace id, the call's step id)."""
    reporters: dict[tuple[str, str], set[str]] = {}
    for key, record in trace.records.items():
        if record.parent_id is not None:
            direct = {telling.reporter for telling in trace.tellings[key] if telling.direct}
            reporters.setdefault((key.trace_id, record.parent_id), set()).update(direct)
    return reporters

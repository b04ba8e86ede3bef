"""Sums up the work of a trace from a file: its conversation, its uses of tools and models, and its failures."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum
from typing import Final

from concord.assessment.recorded_work import (
    MAX_FAILURES,
    MAX_SAID,
    MAX_USES,
    RecordedFailure,
    RecordedUse,
    RecordedWork,
    SaidStep,
)
from concord.assessment.results import MAX_STEP_IDS
from concord.judging.truncation import EVIDENCE, cost, cut, fair_limit
from concord.trace.report import Report
from concord.wire.roster import Roster
from concord_evaluator.recorded.steps import WorkStep, work_steps

MAX_ERROR: Final = 300
"""Characters of an error."""

_PLACES: Final = ("run", "agent", "call", "tool", "model", "step")


def recorded_work(reports: Iterable[Report], roster: Roster, task: str, budget: int = EVIDENCE) -> RecordedWork:
    """The work of a trace. `budget`: the cost of all its texts, as a judge is sent them."""
    steps = list(work_steps(reports, roster))
    failures = _failures(steps)
    said, omitted = _chosen([step for step in steps if step.kind != "work"])
    costs = [cost(task), *(cost(text) for step in said for text in (step.input, step.output))]
    limit = fair_limit(costs, budget)
    return RecordedWork(
        task=cut(task, limit),
        said=_said(said, steps, limit),
        said_omitted=omitted,
        shortened=max(costs) > limit,
        uses=_uses(steps)[:MAX_USES],
        failures=failures[:MAX_FAILURES],
        failures_omitted=max(0, len(failures) - MAX_FAILURES),
        failed=sum(failure.count for failure in failures),
    )


def _failures(steps: Iterable[WorkStep]) -> list[RecordedFailure]:
    """The failures, equal ones together."""
    groups: defaultdict[tuple[str, ...], list[WorkStep]] = defaultdict(list)
    for step in steps:
        if step.where is not None:
            agent, name = (step.name, step.agent) if step.kind == "call" else (step.agent, step.name)
            groups[step.where, step.nature, agent, name, (step.error or "")[:MAX_ERROR]].append(step)
    found = [
        RecordedFailure(
            where=group[0].where or "step",
            nature=group[0].nature,
            agent=agent,
            name=name or None,
            error=error,
            count=len(group),
            step_ids=[step.step_id for step in group[:MAX_STEP_IDS]],
        )
        for (_, _, agent, name, error), group in groups.items()
    ]
    return sorted(found, key=lambda each: (each.where != "run", -each.count, _PLACES.index(each.where)))


def _uses(steps: Iterable[WorkStep]) -> list[RecordedUse]:
    groups: defaultdict[tuple[str, str, str], list[WorkStep]] = defaultdict(list)
    for step in steps:
        if step.kind in {"tool", "model"}:
            groups[step.agent, step.kind, step.name].append(step)
    uses = [_use(group) for group in groups.values()]
    return sorted(uses, key=lambda use: (-use.calls, use.agent, use.name))


def _use(group: Sequence[WorkStep]) -> RecordedUse:
    told = [step.arguments for step in group if step.arguments]
    tokens = [step.tokens for step in group if step.tokens is not None]
    times = [step.duration_ms for step in group if step.duration_ms is not None]
    return RecordedUse(
        agent=group[0].agent,
        kind="tool" if group[0].kind == "tool" else "model",
        name=group[0].name,
        calls=len(group),
        failed=sum(step.where is not None for step in group),
        repeated=len(told) - len(set(told)) if told else None,
        tokens=sum(tokens) if tokens else None,
        time_ms=fsum(times) if times else None,
    )


def _chosen(steps: Sequence[WorkStep]) -> tuple[list[WorkStep], int]:
    """The steps to quote, by their start, and how many others there are."""
    told = [step for step in steps if step.input or step.output or step.error]
    ordered = sorted(told, key=lambda step: (step.started_s is None, step.started_s or 0.0, step.kind != "call"))
    if len(ordered) <= MAX_SAID:
        return ordered, 0
    ends = [index for pair in zip(range(len(ordered)), reversed(range(len(ordered))), strict=True) for index in pair]
    failed = [index for index, step in enumerate(ordered) if step.where is not None]
    chosen = set(list(dict.fromkeys([*failed, *ends]))[:MAX_SAID])
    return [step for index, step in enumerate(ordered) if index in chosen], len(ordered) - MAX_SAID


def _said(steps: Sequence[WorkStep], all_steps: Iterable[WorkStep], limit: int) -> list[SaidStep]:
    start = min((step.started_s for step in all_steps if step.started_s is not None), default=0.0)
    return [
        SaidStep(
            step_id=step.step_id,
            kind="call" if step.kind == "call" else "tool" if step.kind == "tool" else "model",
            agent=step.agent,
            name=step.name,
            start_ms=None if step.started_s is None else 1000 * (step.started_s - start),
            duration_ms=step.duration_ms,
            tokens=step.tokens,
            input=cut(step.input, limit),
            output=cut(step.output, limit),
            error=None if step.error is None else step.error[:MAX_ERROR],
        )
        for step in steps
    ]

"""Sums up the work of a trace from a file: its conversation, its uses of tools and models, and its failures."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum, inf
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
from concord.judging.model_answer import EVIDENCE, cost, cut, fair_limit
from concord.trace.report import ReportBatch
from concord.wire.roster import Roster
from concord_evaluator.recorded.steps import USED, WorkStep, arguments_key, work_steps

MAX_ERROR: Final = 300
"""Characters of an error."""

_PLACES: Final = ("run", "agent", "call", "tool", "model", "step")


def recorded_work(batches: Iterable[ReportBatch], roster: Roster, task: str, budget: int = EVIDENCE) -> RecordedWork:
    """The work of a trace. `budget`: the cost of all its texts, as a judge is sent them."""
    steps = list(work_steps(batches, roster))
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
            step_ids=[each.step.step_id for each in group[:MAX_STEP_IDS]],
        )
        for (_, _, agent, name, error), group in groups.items()
    ]
    return sorted(found, key=lambda each: (each.where != "run", -each.count, _PLACES.index(each.where)))


def _uses(steps: Iterable[WorkStep]) -> list[RecordedUse]:
    groups: defaultdict[tuple[str, str, str], list[WorkStep]] = defaultdict(list)
    for step in steps:
        if step.kind in USED:
            groups[step.agent, step.kind, step.name].append(step)
    uses = [_use(group) for group in groups.values()]
    return sorted(uses, key=lambda use: (-use.calls, use.agent, use.name))


def _use(group: Sequence[WorkStep]) -> RecordedUse:
    asked = [arguments_key(step.asked) for step in group if step.asked]
    tokens = [told for step in group if (told := step.tokens) is not None]
    times = [ms for step in group if (ms := step.step.latency_ms) is not None]
    return RecordedUse(
        agent=group[0].agent,
        kind="tool" if group[0].kind == "tool" else "model",
        name=group[0].name,
        calls=len(group),
        failed=sum(step.where is not None for step in group),
        repeated=len(asked) - len(set(asked)) if asked else None,
        tokens=sum(tokens) if tokens else None,
        time_ms=fsum(times) if times else None,
    )


def _chosen(steps: Sequence[WorkStep]) -> tuple[list[WorkStep], int]:
    """The steps to quote, by their start, and how many others there are."""
    told = [step for step in steps if step.input or step.output or step.error]
    ordered = sorted(told, key=_place)
    if len(ordered) <= MAX_SAID:
        return ordered, 0
    failed = [index for index, step in enumerate(ordered) if step.where is not None]
    ends = [index for pair in zip(range(MAX_SAID), range(len(ordered) - 1, -1, -1), strict=False) for index in pair]
    chosen = dict.fromkeys([*failed, *ends])
    return [ordered[index] for index in sorted(list(chosen)[:MAX_SAID])], len(ordered) - MAX_SAID


def _place(step: WorkStep) -> tuple[float, bool]:
    started = step.started_s
    return inf if started is None else started, step.kind != "call"


def _said(steps: Sequence[WorkStep], all_steps: Iterable[WorkStep], limit: int) -> list[SaidStep]:
    start = min((each for step in all_steps if (each := step.started_s) is not None), default=0.0)
    return [
        SaidStep(
            step_id=step.step.step_id,
            kind="call" if step.kind == "call" else "tool" if step.kind == "tool" else "model",
            agent=step.agent,
            name=step.name,
            start_ms=None if (started := step.started_s) is None else 1000 * (started - start),
            duration_ms=step.step.latency_ms,
            tokens=step.tokens,
            input=cut(step.input, limit),
            output=cut(step.output, limit),
            error=None if step.error is None else step.error[:MAX_ERROR],
        )
        for step in steps
    ]

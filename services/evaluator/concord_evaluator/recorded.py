"""The work that a trace tells of, from a file or of a played trial: texts, uses of tools and models, failures."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, inf
from typing import Final, Literal

import msgspec

from concord.assessment.recorded_work import (
    MAX_FAILURES,
    MAX_SAID,
    MAX_USES,
    Nature,
    RecordedFailure,
    RecordedUse,
    RecordedWork,
    SaidStep,
)
from concord.assessment.results import MAX_STEP_IDS, CallRecord
from concord.judging.model_answer import EVIDENCE, cost, cut, fair_limit
from concord.trace.attributes import (
    AGENT_NAME,
    MODEL_INPUT,
    RESPONSE_TEXT,
    TOOL_ARGUMENTS,
    TOOL_RESULT,
)
from concord.trace.decoding import steps_of_batch
from concord.trace.report import Channel, ReportBatch
from concord.trace.step import CallType, as_utc
from concord.trace.stored_step import Step
from concord.wire.roster import GREEN_AGENT, UNKNOWN_AGENT, Roster
from concord_evaluator.failures import Failure, error_of, failures_in, name_of
from concord_evaluator.messages import Trust
from concord_evaluator.trace.reading import calls_model, text_of

# The steps of a trace, as far as they tell what was said, used, and failed.

Kind = Literal["call", "tool", "model", "work"]
Where = Literal["run", "call", "tool", "model", "step"]

USED: Final = frozenset({"tool", "model"})
"""The kinds of steps that use something."""

_TEXT_OF: Final[Mapping[Kind, str]] = {"call": "text", "tool": TOOL_ARGUMENTS, "model": MODEL_INPUT, "work": "text"}


class WorkStep(msgspec.Struct, frozen=True, gc=False):
    """One step. `name`: of the callee, tool or model. `asked`: what these were asked, by name."""

    step: Step
    kind: Kind
    reporter: str
    agent: str
    name: str
    asked: Mapping[str, object]

    @property
    def error(self) -> str | None:
        """In the words of its recorder, without a traceback."""
        return error_of(self.step)

    @property
    def input(self) -> str:
        """The text of what was asked."""
        asked = self.asked
        if not asked:
            return ""
        own = asked.get(_TEXT_OF[self.kind])
        return own if isinstance(own, str) else text_of(asked)

    @property
    def output(self) -> str:
        """The text of the answer, or of the result."""
        return self.step.additional_attributes.get(TOOL_RESULT if self.kind == "tool" else RESPONSE_TEXT, "")

    @property
    def started_s(self) -> float | None:
        """Seconds since 1970."""
        started = self.step.start_time
        return None if started is None else as_utc(started).timestamp()

    @property
    def tokens(self) -> int | None:
        """Those of a tool or a model."""
        return self.step.total_tokens if self.kind in USED else None


def work_steps(batches: Iterable[ReportBatch], roster: Roster, limit: float = inf) -> list[WorkStep]:
    """The steps of a trace, each once: of several reports of one the best attested, then that with the longest texts.

    Beyond `limit` steps no others are read.
    """
    best: dict[str, tuple[Trust, WorkStep]] = {}
    for batch in batches:
        for step in steps_of_batch(batch):
            told = best.get(step.step_id)
            if told is None and len(best) >= limit:
                continue
            made = _step(step, batch.reporter, roster)
            trust = Trust(batch.channel is Channel.OBSERVED, is_own(made), batch.authenticated)
            if told is None or (trust, *_texts(made)) > (told[0], *_texts(told[1])):
                best[step.step_id] = trust, made
    return [step for _, step in best.values()]


def _texts(step: WorkStep) -> tuple[int, str, str]:
    return len(step.input) + len(step.output), step.input, step.output


def is_own(step: WorkStep) -> bool:
    """Whether the agent whose step it is, or the participant around that agent, reported it."""
    return step.reporter == step.agent.partition("/")[0]


def arguments_key(asked: Mapping[str, object]) -> object:
    """A key that is equal for equal arguments of a tool or a model."""
    if len(asked) == 1:
        ((name, value),) = asked.items()
        return (name, value) if type(value) is str else str(asked)
    return str(sorted(asked.items()))


def _step(step: Step, reporter: str, roster: Roster) -> WorkStep:
    attributes = step.additional_attributes
    named = attributes.get(AGENT_NAME)
    kind = _kind(step, attributes)
    name, asked = _subject(step, kind, roster)
    agent = roster.resolve("", named) if named else reporter
    return WorkStep(step, kind, reporter, agent, name, asked)


def _kind(step: Step, attributes: Mapping[str, str]) -> Kind:
    kind = step.kind
    if kind is CallType.AGENT:
        return "call"
    if kind is CallType.HOST:
        return "work"
    return "model" if calls_model(step, attributes) else "tool"


def _subject(step: Step, kind: Kind, roster: Roster) -> tuple[str, Mapping[str, object]]:
    """The name of the callee, tool or model, and what it was asked."""
    if kind == "call" and (call := step.agent_call) is not None:
        return roster.resolve(call.agent_url, call.agent_name), call.requests or {}
    action = step.step_action
    tool = None if action is None else action.tool_invocation
    if tool is None:
        return step.name or "", step.parameters or {}
    return tool.tool_name, tool.parameters or {}


# Sums up the work of a trace: its conversation, its uses of tools and models, and its failures.

MAX_ERROR: Final = 300
"""Characters of an error."""

_PLACES: Final = ("run", "call", "tool", "model", "step")


MAX_READ: Final = 20_000
"""Steps of a played trial that are read for its conversation. Participants may report any number."""


def recorded_work(batches: Iterable[ReportBatch], roster: Roster, task: str, budget: int = EVIDENCE) -> RecordedWork:
    """The work of a trace from a file. `budget`: the cost of all its texts, as a judge is sent them."""
    steps = work_steps(batches, roster)
    return _work(steps, _failures(steps), task, budget)


def played_work(
    batches: Sequence[ReportBatch], roster: Roster, task: str, calls: Sequence[CallRecord] | None
) -> RecordedWork:
    """The work of a trial that was played. `calls`: those of its graph; None if it was not measured.

    No other calls are quoted, and of tools and models only what agents report of themselves: the rest are claims. What
    failed is not listed apart, since the causes of a trial rest on what the gateway saw fail.
    """
    listed = None if calls is None else {(call.step_id, call.caller) for call in calls}
    observed_first = sorted(batches, key=lambda batch: not batch.is_observed)
    steps = [
        step
        for step in sorted(work_steps(observed_first, roster, MAX_READ), key=lambda each: each.step.step_id)
        if (step.kind == "call" and (listed is None or (step.step.step_id, step.agent) in listed))
        or (step.kind in USED and step.agent != GREEN_AGENT and is_own(step))
    ]
    return _work(steps, (), task, EVIDENCE)


def _work(steps: Sequence[WorkStep], failures: Sequence[RecordedFailure], task: str, budget: int) -> RecordedWork:
    said, omitted = _chosen([step for step in steps if step.kind != "work"])
    costs = [cost(task), *(cost(text) for step in said for text in (step.input, step.output))]
    limit = fair_limit(costs, budget)
    return RecordedWork(
        task=cut(task, limit),
        said=_said(said, steps, limit),
        said_omitted=omitted,
        shortened=max(costs) > limit,
        uses=_uses(steps)[:MAX_USES],
        failures=list(failures[:MAX_FAILURES]),
        failures_omitted=max(0, len(failures) - MAX_FAILURES),
        failed=sum(failure.count for failure in failures if not failure.handled),
    )


def _failures(steps: Iterable[WorkStep]) -> list[RecordedFailure]:
    """The failures, equal ones together."""
    named = {each.step.step_id: each for each in steps}
    groups: defaultdict[tuple[Where, Nature, str, str, str, bool, bool], list[str]] = defaultdict(list)
    for step_id, each in failures_in([step.step for step in named.values()]).by_step.items():
        where, agent, name = _place_of(named, each)
        error = each.thrown.text[:MAX_ERROR] or "error"
        groups[where, each.nature, agent, name, error, each.handled, each.ended_run].append(step_id)
    found = [
        RecordedFailure(
            where=where,
            nature=nature,
            agent=agent,
            name=name or None,
            error=error,
            count=len(step_ids),
            step_ids=step_ids[:MAX_STEP_IDS],
            handled=handled,
            ended_run=ended_run,
        )
        for (where, nature, agent, name, error, handled, ended_run), step_ids in groups.items()
    ]
    return sorted(found, key=lambda each: (not each.ended_run, each.handled, -each.count, _PLACES.index(each.where)))


def _place_of(named: Mapping[str, WorkStep], failure: Failure) -> tuple[Where, str, str]:
    """Where a failure was raised: the place, the agent, and the tool, the model, the guardrail or the caller.

    What no agent did has the name of the nearest step around it that has one.
    """
    at = named[failure.step.step_id]
    if at.kind == "call":
        return "call", at.name, at.agent
    agent = at.agent
    around: WorkStep | None = at
    while agent == UNKNOWN_AGENT and around is not None:
        agent = UNKNOWN_AGENT if around.kind in USED else name_of(around.step) or UNKNOWN_AGENT
        around = named.get(around.step.parent or "")
    if at.kind == "work":
        return ("run" if failure.ended_run else "step"), agent, failure.guardrail
    return at.kind, agent if agent != UNKNOWN_AGENT else at.name, failure.guardrail or at.name


def _uses(steps: Sequence[WorkStep]) -> list[RecordedUse]:
    """The uses of tools and models. A call of a model inside another one is the same, as a second library sees it."""
    groups: defaultdict[tuple[str, str, str], list[WorkStep]] = defaultdict(list)
    by_id = {step.step.step_id: step for step in steps}
    for step in steps:
        around = by_id.get(step.step.parent or "")
        if step.kind in USED and not (step.kind == "model" and around is not None and around.kind == "model"):
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
        failed=sum(step.error is not None for step in group),
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
    failed = [index for index, step in enumerate(ordered) if step.error is not None]
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

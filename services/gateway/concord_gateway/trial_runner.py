"""One trial: drives the team through it, waits until its trace is complete, and closes the trace."""

import asyncio
import time
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from concord.agent.messenger import Messenger, StepSink
from concord.assessment import AssessmentPlan, Mode, TaskSpec, TrialSpec
from concord.assessment.results import TrialOutcome
from concord.assessment.task_spec import Exchange
from concord.errors import StorageUnavailableError
from concord.storage import TraceStore
from concord.storage.connection import Storage
from concord.trace.attributes import TASK_STATE
from concord.trace.decoding import parents_in
from concord.trace.report import Channel, unpack
from concord.trace.step import InteractionStep
from concord.trace.timing import StepClock, root_step
from concord.tracing import ASSESSMENT_ID, PARTICIPANTS_TRACE_ID, TRIAL_ID, current, span
from concord.trust.tokens import Claims
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, new_step_id
from concord_gateway.assessment_record import AssessmentRecord
from concord_gateway.assignments import OwnWork, TrialCalls
from concord_gateway.assistants import Assistants
from concord_gateway.calls import Channels
from concord_gateway.drivers import Driver, TrialContext, drive_calls, drive_live, drive_pattern, drive_rounds
from concord_gateway.instruments import Instruments
from concord_gateway.plan import Participants
from concord_gateway.progress import Progress
from concord_gateway.recorder import Recorder
from concord_gateway.rounds.exchange import OverBudgetError
from concord_gateway.settings import GatewaySettings

# When to close a trace: once everything expected has arrived, or at the latest after a time limit.
#
# Three things are expected. Every call that the gateway saw begin has ended. Every call to an agent that reports
# has a child step from that agent. No report has arrived for `quiet_s`, unless nobody reports at all.

FIRST_WORD_S: Final = 0.1
"""A reporter sends a trace's first step at once, so an agent that reports has been heard from by then."""

_POLL_S: Final = 0.05


@dataclass(slots=True)
class Reporters:
    """Which agents report to the collector. Steps sent in band need no waiting.

    `announced` agents say so in their cards, `heard` agents have reported, in time or late. An agent that was not heard
    from while a whole trace was closed is `silent`: the gateway stops waiting for it until it reports.
    """

    announced: frozenset[str] = frozenset()
    heard: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    closed: str = ""
    """The trace that was closed last. Who reports to it later does report."""

    def expected(self, agents: Iterable[str]) -> set[str]:
        """The agents that reports are expected from."""
        return {agent for agent in agents if agent in self.heard or agent in self.announced - self.silent}

    def unknown(self, agents: Iterable[str]) -> set[str]:
        """The agents that may turn out to report."""
        return set(agents) - self.heard - self.silent

    def learn(self, agents: Iterable[str], heard: set[str]) -> None:
        """Records which agents were heard from while a trace with these agents was closed."""
        self.heard |= heard
        self.silent = (self.silent | set(agents)) - self.heard


@dataclass(slots=True)
class _Arrivals:
    """The contents of a trace so far: the agents that reported over the wire, and the calls with a child step from
    their callee."""

    traces: TraceStore
    trace_id: str
    heard: set[str] = field(default_factory=set)
    _told: set[tuple[str, str]] = field(default_factory=set)
    _place: str = ""

    async def more(self) -> bool:
        """Reads new batches; returns whether there were any. Raises StorageUnavailableError."""
        before = self._place
        async for place, batch in self.traces.entries(self.trace_id, before):
            self._place = place
            if batch.channel is Channel.OBSERVED:
                continue
            if batch.channel is not Channel.IN_BAND:
                self.heard.add(batch.reporter)
            self._told |= {(batch.reporter, parent) for parent in parents_in(unpack(batch.body))}
        return self._place != before

    def missing(self, trial_calls: TrialCalls, reporting: set[str]) -> bool:
        """Whether an answered call to one of these agents has no child step from it yet."""
        return any(
            call.callee in reporting and (call.callee, call.step_id) not in self._told for call in trial_calls.answered
        )


async def wait_until_settled(
    traces: TraceStore, trace_id: str, trial_calls: TrialCalls, reporters: Reporters, *, quiet_s: float, cap_s: float
) -> None:
    """Waits until a trial's trace can be closed, for at most `cap_s`. Raises StorageUnavailableError."""
    if reporters.closed:
        reporters.heard |= (await traces.late(reporters.closed)).keys()
    arrivals = _Arrivals(traces, trace_id)
    started = changed_at = time.monotonic()
    while True:
        if await arrivals.more():
            changed_at = time.monotonic()
        agents = {call.callee for call in trial_calls.answered}
        reporting = reporters.expected(agents) | arrivals.heard
        pending = bool(trial_calls.n_open) or arrivals.missing(trial_calls, reporting)
        enough_s = quiet_s if reporting else min(quiet_s, FIRST_WORD_S) if reporters.unknown(agents) else 0.0
        now = time.monotonic()
        if now - started >= cap_s or (not pending and now - changed_at >= enough_s):
            break
        await asyncio.sleep(_POLL_S)
    reporters.learn(agents, arrivals.heard)
    reporters.closed = trace_id


# One trial.

_DRIVERS: Final[dict[Mode, Driver]] = {Mode.GROUND_TRUTH: drive_pattern, Mode.LIVE: drive_live}


@dataclass(slots=True)
class TrialRunner:
    """Runs the trials of one assessment, and keeps one client per participant for all of them. Close it."""

    record: AssessmentRecord
    storage: Storage
    settings: GatewaySettings
    progress: Progress
    participants: Participants
    assistants: Assistants
    instruments: Instruments
    _messenger: Messenger = field(init=False)
    _sinks: dict[str, StepSink] = field(default_factory=dict)
    """By trace id, who takes the steps of the gateway's own calls."""
    _reporters: Reporters = field(init=False)
    _work: OwnWork = field(default_factory=OwnWork)

    def __post_init__(self) -> None:
        self._messenger = Messenger(
            self._on_step,
            timeout_s=self.record.state.limits.trial_s,
            peer_urls=self.participants.peer_urls,
            cards=self.record.cards,
            credentials=self.participants.credentials,
        )
        self._reporters = Reporters(frozenset(entry.id for entry in self._plan.roster if entry.reports))

    @property
    def _plan(self) -> AssessmentPlan:
        return self.record.plan

    async def aclose(self) -> None:
        """Closes the clients."""
        await self._messenger.close()

    async def run(self, trial: TrialSpec, task: TaskSpec, *, budget_s: float, tokens_until: float) -> TrialOutcome:
        """The outcome of a trial, whose trace is closed.

        `budget_s`: its time limit (seconds). `tokens_until`: when its participants' tokens expire (Unix seconds).
        Raises OverBudgetError, StorageUnavailableError, TrialNotRunError.
        """
        trace_id = trial.trace_id
        ids = {ASSESSMENT_ID: self._plan.assessment_id, TRIAL_ID: trial.trial_id, PARTICIPANTS_TRACE_ID: trace_id}
        with (
            self.participants.open_calls.trial(trace_id, self._work) as trial_calls,
            structlog.contextvars.bound_contextvars(trace_id=trace_id),
            span("trial", ids),
        ):
            trial_calls.parent = current()
            driving = self._drive(trial, task, trial_calls, budget_s, tokens_until)
            try:
                outcome = await _within_budget(driving, trial_calls)
                await wait_until_settled(
                    self.storage.traces,
                    trace_id,
                    trial_calls,
                    self._reporters,
                    quiet_s=self._plan.config.quiet_s,
                    cap_s=self._plan.config.closing_cap_s,
                )
            except BaseException:
                with suppress(StorageUnavailableError):
                    await self.participants.close(trace_id)
                raise
            closed = await self.participants.close(trace_id)
            if trial_calls.over_budget is not None:
                raise trial_calls.over_budget
            if GREEN_AGENT in closed.refused:
                raise OverBudgetError("what gateways observed exceeds a trial's budget")
            if trial_calls.lost is not None:
                raise trial_calls.lost
            self.instruments.trace_batches.observe(closed.batches)
            return outcome.model_copy(update={"closed_after": closed.batches})

    def _on_step(self, step: InteractionStep, assignment: Assignment) -> None:
        if (sink := self._sinks.get(assignment.trace_id)) is not None:  # otherwise its trial is over
            sink(step, assignment)

    async def _drive(
        self, trial: TrialSpec, task: TaskSpec, trial_calls: TrialCalls, budget_s: float, tokens_until: float
    ) -> TrialOutcome:
        recorder = Recorder(self.storage.traces, trial.trace_id, self.settings.trace_limits)
        claims = Claims(self._plan.assessment_id, trial.trace_id, GREEN_AGENT, tokens_until)
        own = self.participants.assignments.own(self._plan.assessment_id, trial.trace_id, new_step_id())
        assignment = own.model_copy(update={"agent_seed": trial.seed})

        def on_step(step: InteractionStep, _: Assignment) -> None:
            recorder.add(step)
            trial_calls.end(step.step_id, answered=TASK_STATE in step.additional_attributes)

        clock = StepClock()
        self._sinks[trial.trace_id] = on_step
        context = TrialContext(
            plan=self._plan,
            trial=trial,
            task=task,
            assignment=assignment,
            claims=claims,
            assignments=self.participants.assignments,
            messenger=self._messenger,
            traces=self.storage.traces,
            channels=Channels(self.storage.assessments, self.storage.registry, self.participants.proxy_base),
            trial_calls=trial_calls,
            progress=self.progress,
            recorder=recorder,
            budget_s=budget_s,
            assistants=self.assistants,
        )
        try:
            outcome = await self._driver(task)(context)
            return outcome.model_copy(update={"notes": context.notes})
        finally:
            del self._sinks[trial.trace_id]
            root = root_step("drive_trial", clock, step_id=assignment.step_id, trace_id=assignment.trace_id)
            recorder.add(root)
            await recorder.write()

    def _driver(self, task: TaskSpec) -> Driver:
        if task.scenario is not None:
            # Only trials with a scenario need `concord_assistant`.
            from concord_gateway.drivers.assistant import drive_assistant

            return drive_assistant
        if task.family is None:
            return _DRIVERS[self._plan.mode]
        return drive_calls if task.family.exchange is Exchange.CALLS else drive_rounds


async def _within_budget(driving: Coroutine[Any, Any, TrialOutcome], trial_calls: TrialCalls) -> TrialOutcome:
    """Drives a trial, at the longest until it is over its budget. Raises as the driver does, and OverBudgetError."""
    drive, exceeded = asyncio.create_task(driving), asyncio.create_task(trial_calls.exceeded.wait())
    try:
        await asyncio.wait({drive, exceeded}, return_when=asyncio.FIRST_COMPLETED)
        if trial_calls.over_budget is not None:
            raise trial_calls.over_budget
        return drive.result()
    finally:
        drive.cancel()
        exceeded.cancel()
        await asyncio.gather(drive, exceeded, return_exceptions=True)

"""One assessment in an environment, up to its evaluation: set-up, prompt, start, turns, completion."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from concord.a2a import AgentUnreachableError, RemoteError
from concord.trust.redaction import redact
from concord_assistant.assistant import InvalidReplyError, PurpleClient, expect_success
from concord_assistant.conducted import ConductedAssessment, Status
from concord_assistant.config import AssessmentSettings, GreenAgentConfig
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.environment.admin import EnvironmentAdmin
from concord_assistant.messages import AssessmentCompleteMessage, AssessmentStartMessage, CompletionReason
from concord_assistant.office.grading import OCCURRENCES
from concord_assistant.results import TurnResult, UserFault
from concord_assistant.scenario.evaluators import EvaluatorRegistry
from concord_assistant.scenario.schema import ScenarioConfig
from concord_assistant.turns.action_log import ActionLogBuilder
from concord_assistant.turns.correspondents import Correspondents
from concord_assistant.turns.turn import TurnRunner
from concord_assistant.updates import AssessmentStarted, ErrorOccurred, ScenarioLoaded
from concord_environment_client import UESClientError
from concord_environment_client.responses import NewKey

REVOKE_TIMEOUT_S: Final = 5.0

ASSISTANT_FAULTS: Final = (TimeoutError, AgentUnreachableError, RemoteError, InvalidReplyError)


@dataclass(frozen=True, slots=True)
class Ending:
    """Why the turns ended."""

    reason: CompletionReason
    status: Status
    error: str | None = None


SCENARIO_OVER: Final = Ending("scenario_complete", "completed")
ASSISTANT_DONE: Final = Ending("early_completion", "completed")
CANCELLED: Final = Ending("error", "failed", "the assessment was cancelled")


@dataclass(frozen=True, slots=True)
class _Began:
    """An assessment after its set-up: the key, the simulated time, the first snapshot, and the log."""

    key: NewKey
    now: datetime
    initial_state: dict[str, Any]
    log: ActionLogBuilder


@dataclass(slots=True)
class AssessmentSession:
    """The helpers and the progress of one assessment. They serve no other."""

    assessment_id: str
    scenario: ScenarioConfig
    evaluators: EvaluatorRegistry
    settings: AssessmentSettings
    config: GreenAgentConfig
    admin: EnvironmentAdmin
    assistant: PurpleClient
    emitter: TaskUpdateEmitter
    ues_url: str
    correspondents: Correspondents
    cancelled: Callable[[], bool]
    _ending: Ending = CANCELLED
    _started: float = field(default_factory=time.monotonic)
    _turns: list[TurnResult] = field(default_factory=list)
    _faults: list[UserFault] = field(default_factory=list)

    async def run(self) -> ConductedAssessment:
        """Conducts the assessment. At its end, also after an error, notifies the assistant and revokes its key.

        The phases are those of the protocol; the criteria are evaluated from the record. Raises UESClientError,
        ScenarioRefusedError.
        """
        began = await self._set_up()
        try:
            await self.admin.prompt(self.scenario.user_prompt)
            refusal = await self._start(began)
            now = await self._take_turns(began, refusal)
            return await self._record(began, now)
        finally:
            await self._complete(began.key)

    async def _set_up(self) -> "_Began":
        """Loads the scenario, creates the assistant's key and takes the first snapshot."""
        await self.emitter.send(
            AssessmentStarted(
                assessment_id=self.assessment_id,
                scenario_id=self.scenario.scenario_id,
                participant_url=redact(self.assistant.url),
                start_time=self.scenario.start_time,
            )
        )
        now = await self.admin.load(self.scenario)
        key = await self.admin.create_key(f"assistant in {self.scenario.scenario_id}")
        try:
            await self.correspondents.begin(now)
            began = _Began(key, now, await self._snapshot(), ActionLogBuilder(purple_agent_id=key.key_id))
            await self.emitter.send(
                ScenarioLoaded(
                    scenario_id=self.scenario.scenario_id,
                    scenario_name=self.scenario.name,
                    criteria_count=len(self.scenario.criteria),
                    character_count=len(self.scenario.characters),
                )
            )
        except BaseException:
            await self._complete(key)
            raise
        return began

    async def _record(self, began: "_Began", now: datetime) -> ConductedAssessment:
        """All that the evaluation needs. `now`: the simulated time at the end."""
        log = began.log
        return ConductedAssessment(
            assessment_id=self.assessment_id,
            participant=redact(self.assistant.url),
            scenario=self.scenario.model_copy(update={"initial_state": {}}),
            evaluators=self.evaluators,
            status=self._ending.status,
            reason=self._ending.reason,
            error=self._ending.error,
            duration_seconds=time.monotonic() - self._started,
            final_time=now,
            turns=self._turns,
            action_log=log.get_log(),
            actions_omitted=log.omitted,
            other_events=log.get_other_events(),
            listed_events=log.get_listed_events(),
            listed_events_omitted=log.other_events_omitted,
            user_faults=[*self.correspondents.faults, *self._faults],
            initial_state=began.initial_state,
            final_state=await self._snapshot(),
        )

    async def _snapshot(self) -> dict[str, Any]:
        """The states of all modalities, and of a day the occurrences in its calendar."""
        states = await self.admin.snapshot()
        if self.scenario.day is not None:
            states[OCCURRENCES] = await self.admin.occurrences(self.scenario.start_time)
        return states

    async def _start(self, began: "_Began") -> str | None:
        """Sends the assistant its address and key. Returns why it cannot take part, None if it can."""
        message = AssessmentStartMessage(
            ues_url=self.ues_url,
            api_key=began.key.secret,
            current_time=began.now,
            initial_state_summary=await self.admin.summary(),
        )
        limit_s = min(self._turn_timeout_s, self._remaining_s)
        try:
            async with asyncio.timeout(limit_s):
                expect_success(await self.assistant.send(message))
        except ASSISTANT_FAULTS as error:
            why = str(error) or f"no answer within {limit_s:g} s"
            return redact(f"the assistant did not accept assessment_start: {why}")
        return None

    async def _take_turns(self, began: "_Began", refusal: str | None) -> datetime:
        """Runs turns, unless the assistant refused to take part. Returns the simulated time at the end."""
        if refusal is None:
            now, self._ending = await self._turns_until_end(self._runner(began), began.now)
        else:
            now, self._ending = began.now, Ending("error", "failed", refusal)
        if self._ending.error is not None:
            await self.emitter.send(
                ErrorOccurred(
                    error_type="timeout" if self._ending.status == "timeout" else "communication_error",
                    error_message=self._ending.error,
                    recoverable=False,
                )
            )
        return now

    def _runner(self, began: "_Began") -> TurnRunner:
        return TurnRunner(
            admin=self.admin,
            assistant=self.assistant,
            log=began.log,
            correspondents=self.correspondents,
            emitter=self.emitter,
            default_step=self.scenario.default_time_step,
            end_time=self.scenario.end_time,
            faults=self._faults,
        )

    async def _turns_until_end(self, runner: TurnRunner, now: datetime) -> tuple[datetime, Ending]:
        """Runs turns until one of the endings. Returns the simulated time and the ending."""
        max_turns = self.settings.max_turns or self.scenario.max_turns or self.config.default_max_turns
        events = errors = 0
        while len(self._turns) < max_turns and now < self.scenario.end_time:
            if self.cancelled():
                return now, CANCELLED
            if self._remaining_s <= 0:
                return now, self._out_of_time()
            timeout_s = min(self._turn_timeout_s, self._remaining_s)
            outcome = await runner.run(len(self._turns) + 1, now, events, timeout_s)
            self._turns.append(outcome.result)
            now, events = outcome.now, outcome.events_executed
            if outcome.finished:
                return now, ASSISTANT_DONE
            errors = 0 if outcome.result.error is None else errors + 1
            if self._remaining_s <= 0:
                return now, self._out_of_time()
            if errors >= self.config.max_error_turns:
                why = f"{errors} turns in a row failed, the last one: {outcome.result.error}"
                return now, Ending("error", "failed", why)
        return now, SCENARIO_OVER

    def _out_of_time(self) -> Ending:
        return Ending("timeout", "timeout", f"the assessment took more than {self.settings.limit_s:g} s")

    @property
    def _turn_timeout_s(self) -> float:
        return self.settings.turn_timeout_s or self.config.default_turn_timeout_s

    @property
    def _remaining_s(self) -> float:
        if self.settings.limit_s is None:
            return float("inf")
        return self._started + self.settings.limit_s - time.monotonic()

    async def _complete(self, key: NewKey) -> None:
        """Tells the assistant that the assessment is over, and revokes its key, whatever the assistant does."""
        try:
            with suppress(*ASSISTANT_FAULTS):
                async with asyncio.timeout(self.config.notify_timeout_s):
                    await self.assistant.send(AssessmentCompleteMessage(reason=self._ending.reason))
        finally:
            with suppress(UESClientError, TimeoutError):
                async with asyncio.timeout(REVOKE_TIMEOUT_S):
                    await self.admin.revoke(key.key_id)

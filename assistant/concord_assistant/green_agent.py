"""The green agent: an environment process, and the assessments of assistants in it, one at a time."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx

from concord.llm import LLM
from concord.plain_http import NO_CERTIFICATES
from concord_assistant.assistant import PurpleClient
from concord_assistant.characters.generator import ResponseGenerator
from concord_assistant.conducted import ConductedAssessment, no_scores
from concord_assistant.config import AssessmentSettings, GreenAgentConfig
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.environment.admin import EnvironmentAdmin
from concord_assistant.environment.server import UESServerError, UESServerManager
from concord_assistant.evaluation.judge import evaluate_assistant
from concord_assistant.guarded_model import guarded
from concord_assistant.office.people import PlannedPeople
from concord_assistant.results import AssessmentResults
from concord_assistant.scenario.evaluators import EvaluatorRegistry
from concord_assistant.scenario.schema import ScenarioConfig
from concord_assistant.session import AssessmentSession
from concord_assistant.team_environment import CALL_TIMEOUT_S, TeamEnvironment, team_environment
from concord_assistant.turns.correspondents import Characters, Correspondents, DayPeople
from concord_assistant.updates import AssessmentCompleted, ErrorOccurred
from concord_environment_client import AsyncUESClient, UESClientError

_DEATH_S: Final = 2.0
"""How long after a failed call the process's end may become known."""


class EnvironmentLostError(Exception):
    """The environment failed in the middle of an assessment, which says nothing about the assistant."""


class GreenAgent:
    """Assesses assistants in one environment process: `startup`, any number of `run`, `shutdown`.

    The process and its client last; the helpers of an assessment are made anew. One assessment runs at a time.
    """

    def __init__(
        self,
        ues_port: int | None = None,
        config: GreenAgentConfig | None = None,
        *,
        response_llm: LLM | None = None,
        evaluation_llm: LLM | None = None,
    ) -> None:
        """`ues_port`: by default a free one.

        Without `response_llm`, the characters are rule-based; without `evaluation_llm`, criteria that only a model can
        evaluate are null. Whatever a model raises, it counts as unavailable.
        """
        self.config: Final = config or GreenAgentConfig()
        self.server: Final = UESServerManager(ues_port, command=self.config.environment_command)
        self._response_llm = guarded(response_llm)
        self._evaluation_llm = guarded(evaluation_llm)
        self._client: AsyncUESClient | None = None
        self._cancelled = False
        self._running = asyncio.Lock()

    async def startup(self) -> None:
        """Starts the environment and waits until it is ready. Raises UESServerError."""
        await self.server.start(self.config.start_timeout_s)
        self._client = AsyncUESClient(
            self.server.url,
            self.server.admin_key,
            timeout=CALL_TIMEOUT_S,
            # A transport of its own, so that the system's proxy settings do not apply.
            transport=httpx.AsyncHTTPTransport(verify=NO_CERTIFICATES),
        )

    async def shutdown(self) -> None:
        """Ends the environment process. Can be called again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        await self.server.stop()

    def cancel(self) -> None:
        """Ends the running assessment before its next turn."""
        self._cancelled = True

    async def run(
        self,
        task_id: str,
        emitter: TaskUpdateEmitter,
        scenario: ScenarioConfig,
        evaluators: EvaluatorRegistry,
        purple_client: PurpleClient,
        assessment_config: Mapping[str, Any] | None = None,
    ) -> AssessmentResults:
        """Runs and evaluates an assessment. One whose environment fails is `failed` and has no scores.

        Raises ScenarioRefusedError; pydantic.ValidationError for an invalid `assessment_config`.
        """
        try:
            record = await self.conduct(task_id, emitter, scenario, evaluators, purple_client, assessment_config)
        except EnvironmentLostError as error:
            await emitter.send(ErrorOccurred(error_type="ues_error", error_message=str(error), recoverable=False))
            return _lost(task_id, scenario, purple_client, str(error))
        return await self._evaluate(record, emitter)

    async def conduct(
        self,
        task_id: str,
        emitter: TaskUpdateEmitter,
        scenario: ScenarioConfig,
        evaluators: EvaluatorRegistry,
        purple_client: PurpleClient,
        assessment_config: Mapping[str, Any] | None = None,
    ) -> ConductedAssessment:
        """Runs an assessment up to its evaluation. Raises as `run` does, and EnvironmentLostError."""
        settings = AssessmentSettings.model_validate(dict(assessment_config or {}))
        async with self._running:
            self._cancelled = False
            session = self._session(task_id, emitter, scenario, evaluators, purple_client, settings)
            return await self._while_environment_runs(session)

    @asynccontextmanager
    async def team(self, days: Mapping[str, ScenarioConfig], *, silent: bool = False) -> AsyncIterator[TeamEnvironment]:
        """The environments of a team's people, by seat, for one trial. `silent`: no mail between them is delivered.

        Raises EnvironmentLostError, ScenarioRefusedError.
        """
        async with self._running:
            client, url = self._started(), self.server.url
            advertised = self.config.advertised_url or url
            try:
                async with team_environment(
                    client, (url, self.server.admin_key), advertised, days, silent=silent
                ) as people:
                    yield people
            except UESClientError as error:
                raise EnvironmentLostError(f"the environment: {error}") from error

    def _started(self) -> AsyncUESClient:
        """The client of the running environment. Raises EnvironmentLostError."""
        if self._client is None or self.server.failure is not None:
            raise EnvironmentLostError(self.server.failure or "the environment was not started")
        return self._client

    def _session(
        self,
        task_id: str,
        emitter: TaskUpdateEmitter,
        scenario: ScenarioConfig,
        evaluators: EvaluatorRegistry,
        purple_client: PurpleClient,
        settings: AssessmentSettings,
    ) -> AssessmentSession:
        """The helpers of one assessment. Raises EnvironmentLostError."""
        client = self._started()
        return AssessmentSession(
            assessment_id=task_id,
            scenario=scenario,
            evaluators=evaluators,
            settings=settings,
            config=self.config,
            admin=EnvironmentAdmin(client),
            assistant=purple_client,
            emitter=emitter,
            ues_url=self.config.advertised_url or self.server.url,
            correspondents=self._correspondents(client, scenario, settings.seed),
            cancelled=lambda: self._cancelled,
        )

    def _correspondents(self, client: AsyncUESClient, scenario: ScenarioConfig, seed: int) -> Correspondents:
        if scenario.day is not None:
            return DayPeople(client, PlannedPeople(scenario.day))
        generator = ResponseGenerator(
            client=client,
            scenario_config=scenario,
            response_llm=self._response_llm,
            summarization_llm=self._response_llm,
            seed=seed,
        )
        return Characters(client, generator)

    async def _while_environment_runs(self, session: AssessmentSession) -> ConductedAssessment:
        """Runs a session; ends it at once if the environment process ends."""
        running = asyncio.create_task(session.run())
        ended = asyncio.create_task(self.server.ended())
        try:
            await asyncio.wait({running, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise EnvironmentLostError(ended.result())
            try:
                return running.result()
            except UESClientError as error:
                await asyncio.wait({ended}, timeout=_DEATH_S)
                raise EnvironmentLostError(ended.result() if ended.done() else f"the environment: {error}") from error
            except UESServerError as error:
                raise EnvironmentLostError(str(error)) from error
        finally:
            for task in (running, ended):
                task.cancel()
            await asyncio.gather(running, ended, return_exceptions=True)

    async def _evaluate(self, record: ConductedAssessment, emitter: TaskUpdateEmitter) -> AssessmentResults:
        evaluation = await evaluate_assistant(
            record.eval_context(), record.scenario, record.evaluators, self._evaluation_llm, emitter=emitter
        )
        results = record.results(evaluation)
        await emitter.send(AssessmentCompleted.of(results))
        return results


def _lost(task_id: str, scenario: ScenarioConfig, purple_client: PurpleClient, error: str) -> AssessmentResults:
    return AssessmentResults(
        assessment_id=task_id,
        scenario_id=scenario.scenario_id,
        participant=purple_client.url,
        status="failed",
        reason="error",
        unjudged=True,
        error=error,
        duration_seconds=0,
        turns_taken=0,
        actions_taken=0,
        scores=no_scores(),
        criteria_results=[],
        action_log=[],
    )

"""Concord's own assistants in this process: they play scenarios for the linter and for the scenarios gate."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx

from concord.a2a import Answer, TaskState
from concord.plain_http import NO_CERTIFICATES
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.environment.admin import ScenarioRefusedError
from concord_assistant.environment.flaky import FlakyTransport
from concord_assistant.environment.server import UESServerError
from concord_assistant.green_agent import GreenAgent
from concord_assistant.messages import Message
from concord_assistant.results import AssessmentResults
from concord_assistant.scenario.lint import LintFinding
from concord_assistant.scenario.loader import Scenario
from concord_assistant.updates import Update
from concord_cli.errors import AssessmentError
from concord_environment_client import UESClientError
from concord_purple.assistant.agent import Assistant, AssistantAgent, ProtocolError
from concord_purple.assistant.scripted import DumpAssistant, NullAssistant, OracleError, ReadOnlyAssistant

UNFIT: Final[dict[str, Callable[[], Assistant]]] = {
    "null": NullAssistant,
    "dump": DumpAssistant,
    "read_only": ReadOnlyAssistant,
}
"""The assistants that do not do the task, by mode."""

_PLAYED: Final = ("null", "dump")
_CONTEXT: Final = "context"


@dataclass(slots=True)
class AssistantInProcess:
    """A `PurpleClient` whose assistant is in this process. `errors` has what made turns fail."""

    new_assistant: Callable[[], Assistant]
    flaky: bool = False
    """Whether some of its calls are refused, as a gateway refuses them."""
    url: str = "in-process"
    errors: list[str] = field(default_factory=list)
    _agent: AssistantAgent = field(init=False)

    def __post_init__(self) -> None:
        self._agent = AssistantAgent(self.new_assistant, _flaky if self.flaky else None)

    async def send(self, message: Message) -> Answer:
        """The assistant's answer, a failed task if the assistant raises."""
        try:
            reply = await self._agent.receive(message.data(), _CONTEXT)
        except (OracleError, ProtocolError, UESClientError) as error:
            self.errors.append(f"{type(error).__name__}: {error}")
            return _answer(TaskState.FAILED, self.errors[-1])
        return _answer(TaskState.COMPLETED, "", reply)


async def assessed(
    agent: GreenAgent, scenario: Scenario, new_assistant: Callable[[], Assistant], seed: int = 0
) -> tuple[AssessmentResults, list[str]]:
    """Assesses an assistant in this process. Returns the results and the assistant's errors.

    Raises ScenarioRefusedError.
    """
    client = AssistantInProcess(new_assistant, scenario.config.day is not None and scenario.config.day.flaky)
    results = await agent.run(
        task_id="in-process",
        emitter=TaskUpdateEmitter(_ignore),
        scenario=scenario.config,
        evaluators=scenario.evaluators,
        purple_client=client,
        assessment_config={"seed": seed},
    )
    return results, client.errors


def passed(results: AssessmentResults) -> list[str]:
    """The ids of the criteria that gave all their points."""
    return [each.criterion_id for each in results.criteria_results if each.score == each.max_score]


@dataclass(frozen=True, slots=True)
class Played:
    """A play of a scenario as written: its faults, and what could not be checked, one sentence each."""

    faults: list[LintFinding]
    unchecked: list[str]


@asynccontextmanager
async def stage() -> AsyncIterator[GreenAgent]:
    """A green agent with an environment process and without a language model. Raises AssessmentError."""
    agent = GreenAgent()
    try:
        await agent.startup()
        yield agent
    except UESServerError as error:
        raise AssessmentError(f"the environment: {error}") from error
    finally:
        await agent.shutdown()


async def played(agent: GreenAgent, scenario: Scenario) -> Played:
    """Plays a scenario with the null and the dump assistant, neither of which does the task.

    Raises AssessmentError if the environment fails.
    """
    passing: dict[str, list[str]] = {}
    unchecked: dict[str, None] = {}
    for name in _PLAYED:
        try:
            results, errors = await assessed(agent, scenario, UNFIT[name])
        except ScenarioRefusedError as error:
            return Played([LintFinding("refused", error.field, str(error))], [])
        if results.status == "failed" and not results.criteria_results:
            raise AssessmentError(f"the environment: {results.error}")
        for criterion in passed(results):
            passing.setdefault(criterion, []).append(name)
        unchecked |= dict.fromkeys(f"a turn of {name} failed: {error}" for error in errors)
        unchecked |= dict.fromkeys(
            f"criterion {each.criterion_id}: {each.error}" for each in results.criteria_results if each.score is None
        )
    faults = [
        _free(number, each.criterion_id, passing[each.criterion_id])
        for number, each in enumerate(scenario.config.criteria)
        if each.criterion_id in passing
    ]
    return Played(faults, list(unchecked))


def _flaky() -> FlakyTransport:
    return FlakyTransport(httpx.AsyncHTTPTransport(verify=NO_CERTIFICATES))


def _free(number: int, criterion_id: str, modes: list[str]) -> LintFinding:
    """The finding on a criterion that gives all its points to assistants that do not do the task."""
    return LintFinding(
        "free-points",
        f"criteria[{number}]",
        f"{criterion_id} gives all its points to {' and '.join(modes)} without the task done; "
        "`requires` names criteria without which it gives none",
    )


def _answer(state: TaskState, text: str, *data: dict[str, object]) -> Answer:
    return Answer(
        state=state,
        text=text,
        status_text=text,
        text_parts=(),
        data_parts=data,  # type: ignore[arg-type]  # JSON
        artifacts=len(data),
        is_task=True,
        task_id="task",
        context_id=_CONTEXT,
    )


async def _ignore(_: Update) -> None:
    """Sends an update to nobody."""

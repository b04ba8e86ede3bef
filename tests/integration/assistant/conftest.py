"""A green agent with a real environment process for all tests of a module, and a scripted assistant for each test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from concord_assistant.assistant import A2AAssistant
from concord_assistant.config import GreenAgentConfig
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.green_agent import GreenAgent
from concord_assistant.results import AssessmentResults
from concord_assistant.scenario.loader import Scenario, load_scenario
from concord_assistant.updates import Update
from tests.forked import forked_command
from tests.integration.assistant.scripted import Scripted, Turn, app_of
from tests.serving import reserved, served, url_of

FIRST_DAY = Path("scenarios/assistant/first_day")

Serving = Callable[[Turn], AbstractAsyncContextManager[tuple[Scripted, str]]]


@asynccontextmanager
async def assistant_of(turn: Turn) -> AsyncIterator[tuple[Scripted, str]]:
    """A scripted assistant over real HTTP, and its URL."""
    holder = reserved()
    assistant = Scripted(turn)
    async with served(app_of(assistant, f"{url_of(holder)}/"), holder) as url:
        yield assistant, f"{url}/"


@dataclass(slots=True)
class Assessor:
    """A started green agent, and the updates that it sent."""

    agent: GreenAgent
    scenario: Scenario
    updates: list[Update] = field(default_factory=list)
    on_update: Callable[[Update], Awaitable[None]] | None = None

    async def run(self, url: str, settings: Mapping[str, Any] | None = None) -> AssessmentResults:
        """Assesses the assistant at a URL."""
        self.updates.clear()

        async def send(update: Update) -> None:
            self.updates.append(update)
            if self.on_update is not None:
                await self.on_update(update)

        async with A2AAssistant.connect(url) as purple_client:
            return await self.agent.run(
                task_id="task-1",
                emitter=TaskUpdateEmitter(send),
                scenario=self.scenario.config,
                evaluators=self.scenario.evaluators,
                purple_client=purple_client,
                assessment_config=settings,
            )

    def types(self) -> list[str]:
        """The types of the updates, in order."""
        return [update.data()["message_type"] for update in self.updates]


@pytest.fixture(scope="module")
async def green_agent() -> AsyncIterator[GreenAgent]:
    agent = GreenAgent(
        config=GreenAgentConfig(notify_timeout_s=10, environment_command=forked_command("concord_environment"))
    )
    await agent.startup()
    yield agent
    await agent.shutdown()


@pytest.fixture(scope="module")
async def scenario() -> Scenario:
    return await asyncio.to_thread(load_scenario, FIRST_DAY)


@pytest.fixture
async def assessor(green_agent: GreenAgent, scenario: Scenario) -> Assessor:
    return Assessor(green_agent, scenario)

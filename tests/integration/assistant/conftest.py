"""A green agent with a real environment for all tests of a module, and a scripted assistant for each test."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import concord_assistant.green_agent
from concord_assistant.assistant import A2AAssistant
from concord_assistant.config import GreenAgentConfig
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.environment.server import START_TIMEOUT_S, UESServerManager
from concord_assistant.green_agent import GreenAgent
from concord_assistant.results import AssessmentResults
from concord_assistant.scenario.loader import Scenario, load_scenario
from concord_assistant.updates import Update
from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings
from tests.integration.assistant.scripted import Scripted, Turn, app_of
from tests.kit.serving import reserved, served, url_of

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


class ServedEnvironment(UESServerManager):
    """An environment that is served in this process, in place of a process of its own."""

    _serving: AsyncExitStack | None = None

    async def start(self, timeout_s: float = START_TIMEOUT_S) -> None:  # noqa: ARG002
        environment = Environment(self._seed)
        environment.keys.set_admin(self.admin_key, datetime.now(UTC))
        holder = reserved()
        self.port = int(url_of(holder).rpartition(":")[2])
        self._serving = AsyncExitStack()
        await self._serving.enter_async_context(served(create_app(environment, EnvironmentSettings()), holder))

    async def ended(self) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    async def is_healthy(self) -> bool:
        return self._serving is not None

    async def stop(self) -> None:
        if self._serving is not None:
            await self._serving.aclose()
            self._serving = None


@pytest.fixture(scope="module")
def served_environments() -> Iterator[None]:
    """Green agents serve their environments in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concord_assistant.green_agent, "UESServerManager", ServedEnvironment)
        yield


@pytest.fixture(scope="module")
async def green_agent(served_environments: None) -> AsyncIterator[GreenAgent]:  # noqa: ARG001
    agent = GreenAgent(config=GreenAgentConfig(notify_timeout_s=10))
    await agent.startup()
    yield agent
    await agent.shutdown()


@pytest.fixture(scope="module")
async def scenario() -> Scenario:
    return await asyncio.to_thread(load_scenario, FIRST_DAY)


@pytest.fixture
def skip_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets forward, by some seconds, the clock of the event loop and of all that measure time with it."""

    def skip(seconds: float) -> None:
        now = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: now() + seconds)

    return skip


@pytest.fixture
async def assessor(green_agent: GreenAgent, scenario: Scenario) -> Assessor:
    return Assessor(green_agent, scenario)

"""One green agent with its environment process per A2A context, for the scenarios of an assessment."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from cachetools import LRUCache

from concord.assessment import AssessmentPlan, TaskSpec, TrialSpec
from concord.assessment.suite_tasks import day_secret
from concord.llm import LLM, LLMSettings, llm_client
from concord.storage import AssessmentStore
from concord_gateway.instruments import Instruments

if TYPE_CHECKING:
    from concord_assistant.environment.flaky import FlakyCalls
    from concord_assistant.green_agent import GreenAgent
    from concord_assistant.scenario.loader import Scenario


# The language model of the characters: the configured one, recorded on request, or a recording of one.


@asynccontextmanager
async def characters_model(
    settings: LLMSettings, record: Path | None = None, replay: Path | None = None
) -> AsyncIterator[LLM | None]:
    """The model that words the characters' replies, None without a key: characters are then rule-based.

    Raises OSError, RecordingError for a recording that cannot be replayed.
    """
    if replay is not None:
        from concord_assistant.characters.recording import ReplayedModel

        yield ReplayedModel(replay)
    elif not settings.available:
        yield None
    else:
        async with llm_client(settings) as client:
            yield client if record is None else _recorded(client, record)


def _recorded(client: LLM, record: Path) -> LLM:
    from concord_assistant.characters.recording import RecordedModel

    return RecordedModel(client, record)


# The scenarios that the gateway has: folders below the configured ones, by name.

_MAX_KEPT: Final = 8


class NoScenarioError(Exception):
    """There is no scenario of that name, or its files are wrong; the text says which, or lists those that there are."""


class Scenarios:
    """Finds and loads scenarios. Clients name scenarios and cannot bring their own, because scenarios contain code."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """`folders`: each contains scenarios as subfolders. Of equal names, the first folder's counts."""
        self._folders = tuple(folders)
        self._kept: LRUCache[str, Scenario] = LRUCache(_MAX_KEPT)

    def load(self, name: str) -> "Scenario":
        """The scenario of that name. Raises NoScenarioError."""
        from concord_assistant.scenario.loader import ScenarioError, load_scenario, scenario_folders

        if (kept := self._kept.get(name)) is not None:
            return kept
        folders: dict[str, Path] = {}
        for folder in reversed(self._folders):
            folders |= scenario_folders(folder)
        if name not in folders:
            raise NoScenarioError(f"no scenario {name!r}; there are: {', '.join(sorted(folders)) or 'none'}")
        try:
            scenario = self._kept[name] = load_scenario(folders[name])
        except ScenarioError as error:
            raise NoScenarioError(str(error)) from error
        return scenario

    def day(self, name: str, secret: bytes) -> "Scenario":
        """The day in the office of that name, with the values of a secret. Raises NoScenarioError."""
        from concord_assistant.office.published import OFFICE_1, published_day
        from concord_assistant.scenario.evaluators import NO_EVALUATORS
        from concord_assistant.scenario.loader import Scenario

        if name not in OFFICE_1:
            raise NoScenarioError(f"no day in the office is called {name!r}; there are: {', '.join(OFFICE_1)}")
        return Scenario(published_day(name, secret), NO_EVALUATORS)

    def of_trial(self, plan: AssessmentPlan, trial: TrialSpec) -> "Scenario":
        """What a trial plays: the variant of its seed, or the day of its secret. Raises NoScenarioError."""
        from concord_assistant.scenario.generator import AS_WRITTEN, variant

        task = plan.task(trial.task_id)
        if task.is_generated and plan.task_secret is not None:
            return self.day(task.scenario or "", day_secret(bytes.fromhex(plan.task_secret), task, trial))
        return variant(self.load(task.scenario or ""), trial.seed if plan.config.seed else AS_WRITTEN)

    def tasks_of(self, task: TaskSpec) -> list[TaskSpec]:
        """The task with its text: what the scenario's user asks, or of a day in the office, its errands.

        Of a task that names a manifest of days, there is one for each of them. Raises as `load` does.
        """
        if task.scenario is None:
            return [task]
        if not task.is_generated:
            return [task.model_copy(update={"text": self.load(task.scenario).config.user_prompt})]
        from concord_assistant.office.published import MANIFEST, OFFICE_1

        names = list(OFFICE_1) if task.scenario == MANIFEST else [task.scenario]
        if unknown := [name for name in names if name not in OFFICE_1]:
            days = ", ".join(OFFICE_1)
            raise NoScenarioError(f"no day in the office is called {unknown[0]!r}; there are: {MANIFEST}, {days}")
        return [
            TaskSpec(id=name if len(names) > 1 else task.id, scenario=name, text=OFFICE_1[name].description)
            for name in names
        ]


# One green agent with its environment process per A2A context, kept between assessments, ended when idle.

logger = logging.getLogger(__name__)


MAX_WRITES: Final = 20_000
MAX_WRITTEN_BYTES: Final = 32 * 2**20
"""Limits on the calls of one trial that may write, and on their bodies: the environment keeps everything in memory."""


@dataclass(slots=True)
class _Context:
    """A context's green agent, and where its environment is served."""

    place: str
    agent: "GreenAgent"
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    """Trials that use the agent or wait for it."""
    idle_since: float = 0.0
    running: bool = False
    lost: bool = False
    """Whether its environment ended by itself."""
    writes: int = 0
    written_bytes: int = 0
    flaky: "FlakyCalls | None" = None
    """Decides which calls of the present trial are refused."""


class AssistantContexts:
    """The green agents of all contexts. At most `max_environments` processes run; idle ones give way."""

    def __init__(
        self,
        base_url: str | None,
        *,
        max_environments: int,
        idle_s: float,
        environment_command: Sequence[str] | None = None,
        response_llm: LLM | None = None,
        instruments: Instruments | None = None,
    ) -> None:
        """`base_url`: the URL of this gateway for assistants, below which it serves the environments; None if it has no
        address for them.

        `environment_command`: starts an environment; None: Concord's own. `response_llm`: words the characters'
        replies; without it, they are rule-based.
        """
        self._base_url = None if base_url is None else base_url.rstrip("/")
        self._environment_command = environment_command
        self._max_environments = max_environments
        self._idle_s = idle_s
        self._response_llm = response_llm
        self._contexts: dict[str, _Context] = {}
        self._free = asyncio.Condition()
        self._closing: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        """Shutdowns under way, which a cancelled caller does not interrupt."""
        self._instruments = instruments or Instruments()
        self._instruments.environments.set_function(lambda: sum(each.running for each in self._contexts.values()))

    @property
    def reachable(self) -> bool:
        """Whether assistants have an address of this gateway. Without one, no green agent can start."""
        return self._base_url is not None

    @asynccontextmanager
    async def agent(self, context_id: str, flaky: "FlakyCalls | None" = None) -> AsyncIterator["GreenAgent"]:
        """The green agent of a context, started, for one trial at a time. Raises UESServerError.

        A new one replaces an agent whose environment has ended. `flaky`: refuses some of the assistant's calls.
        """
        context = await self._reserve(context_id)
        try:
            async with context.lock:
                self._note_loss(context)
                if context.running and context.lost:
                    context.running = False
                    await context.agent.shutdown()
                if not context.running:
                    await self._start(context)
                context.writes = context.written_bytes = 0
                context.flaky = flaky
                yield context.agent
        finally:
            self._note_loss(context)
            context.users -= 1
            context.idle_since = time.monotonic()
            if not context.running:
                await self._remove(context_id)
            async with self._free:
                self._free.notify_all()

    async def _start(self, context: _Context) -> None:
        """Starts the environment of a context. Raises UESServerError."""
        try:
            await context.agent.startup()
        except Exception:
            self._instruments.environment_starts.labels("failed").inc()
            raise
        self._instruments.environment_starts.labels("started").inc()
        context.running, context.lost = True, False

    def _note_loss(self, context: _Context) -> None:
        """Counts an environment that ended by itself, once."""
        if context.running and not context.lost and context.agent.server.failure is not None:
            context.lost = True
            self._instruments.environments_lost.inc()

    def environment(self, place: str) -> str | None:
        """The URL of the environment process that is served at a place, None if there is none."""
        context = self._at(place)
        return context.agent.server.url if context is not None and context.running else None

    def _at(self, place: str) -> _Context | None:
        return next((each for each in self._contexts.values() if each.place == place), None)

    def writes(self, context_id: str) -> int:
        """The writing calls in a context's present trial."""
        context = self._contexts.get(context_id)
        return 0 if context is None else context.writes

    def refuses(self, place: str, path: str) -> bool:
        """Counts a call. Returns whether the trial refuses it before it executes."""
        context = self._at(place)
        return context is not None and context.flaky is not None and context.flaky.refuse(path)

    def may_write(self, place: str, size: int) -> bool:
        """Counts a writing call with a body of that size (bytes). Returns whether the trial's quota allows it."""
        if (context := self._at(place)) is None:
            return False
        context.writes += 1
        context.written_bytes += size
        return context.writes <= MAX_WRITES and context.written_bytes <= MAX_WRITTEN_BYTES

    async def __aenter__(self) -> Self:
        """Starts ending environments that are idle for too long."""
        self._closing = asyncio.create_task(self._close_idle())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Ends all environments, also those in use."""
        if self._closing is not None:
            self._closing.cancel()
            await asyncio.gather(self._closing, return_exceptions=True)
        ending, self._contexts = list(self._contexts.values()), {}
        await asyncio.gather(*self._ending, *(context.agent.shutdown() for context in ending))

    async def _reserve(self, context_id: str) -> _Context:
        """The context, which is not removed while it has users. Waits for a free process."""
        async with self._free:
            while context_id not in self._contexts and len(self._contexts) >= self._max_environments:
                idle = [(each.idle_since, name) for name, each in self._contexts.items() if not each.users]
                if idle:
                    await self._remove(min(idle)[1])
                else:
                    await self._free.wait()
            if context_id not in self._contexts:
                self._contexts[context_id] = self._new_context(secrets.token_hex(8))
            self._contexts[context_id].users += 1
            return self._contexts[context_id]

    def _new_context(self, place: str) -> _Context:
        # Loaded by the first trial with a scenario: a gateway starts without it.
        from concord_assistant.config import GreenAgentConfig
        from concord_assistant.environment.server import ENVIRONMENT_COMMAND
        from concord_assistant.green_agent import GreenAgent

        command = tuple(self._environment_command or ENVIRONMENT_COMMAND)
        config = GreenAgentConfig(advertised_url=f"{self._base_url}/ues/{place}", environment_command=command)
        return _Context(place, GreenAgent(config=config, response_llm=self._response_llm))

    async def _remove(self, context_id: str) -> None:
        context = self._contexts.get(context_id)
        if context is None or context.users:
            return
        del self._contexts[context_id]
        ending = asyncio.create_task(context.agent.shutdown())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        await asyncio.shield(ending)

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(self._idle_s / 4)
            now = time.monotonic()
            for context_id, context in list(self._contexts.items()):
                if not context.users and now - context.idle_since >= self._idle_s:
                    logger.info("ending the environment of a context that was idle for %g s", self._idle_s)
                    await self._remove(context_id)
            async with self._free:
                self._free.notify_all()


# What an assessment needs to have participants play scenarios.


@dataclass(frozen=True, slots=True)
class Assistants:
    """The scenarios, the environments, the store of records, and the A2A context of the assessment's client."""

    scenarios: Scenarios
    contexts: AssistantContexts
    records: AssessmentStore
    context_id: str

"""Finished assessments of each kind, with their results and bundles, and changed copies of both."""

import json
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from typer.testing import CliRunner

from concord.a2a import IncomingMessage, TaskHandle
from concord.bundle import MANIFEST, BundleWriter, Manifest, bundle_file
from concord_cli.main import app
from concord_suites import FAMILIES
from concord_suites.agent import create_app
from concord_suites.player import Habit, reply
from tests.integration.assistant.conftest import assistant_of
from tests.integration.assistant.scripted import first_day
from tests.kit.assessing import PATTERN
from tests.kit.llm_server import FakeModel, fake_model, honest_judge
from tests.kit.serving import reserved, served, served_agent, url_of
from tests.kit.stack import Stack, stack

TASK_SECRET = "5e" * 32
AGENT_ID = "0197-agent"

Members = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Run:
    """A results file with its bundle, in a folder of their own. `secrets`: the run's texts that no file may have."""

    folder: Path
    assessment_id: str
    secrets: tuple[str, ...] = ()

    @property
    def results(self) -> Path:
        return self.folder / "results.json"

    @property
    def bundle(self) -> Path:
        return bundle_file(self.folder, self.assessment_id)

    def document(self) -> dict[str, Any]:
        """The results file's content."""
        document: dict[str, Any] = json.loads(self.results.read_text())
        return document

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = self.document()["results"][0]
        return row

    def members(self) -> Members:
        """The content of the bundle's members, without the manifest."""
        with ZipFile(self.bundle) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name != MANIFEST}

    def manifest(self) -> Manifest:
        with ZipFile(self.bundle) as archive:
            return Manifest.model_validate_json(archive.read(MANIFEST))

    def copy(self, folder: Path) -> "Run":
        """The same files in another folder, to be changed."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Run(folder, self.assessment_id)

    def with_row(self, change: Callable[[dict[str, Any]], object]) -> "Run":
        """Changes the row of the results file."""
        document = self.document()
        change(document["results"][0])
        self.results.write_text(json.dumps(document))
        return self

    def with_members(self, change: Callable[[Members], object], commitment: str | None = None) -> "Run":
        """Changes the bundle's members, and makes a manifest and the row's digest that fit them, as a cheat would.

        `commitment`: to the task secret; by default the one that the manifest has.
        """
        members, manifest = self.members(), self.manifest()
        change(members)
        file = BytesIO()
        writer = BundleWriter(file)
        for name, content in members.items():
            writer.add(name, content.decode())
        writer.close(manifest.assessment_id, commitment or manifest.task_secret_sha256)
        self.bundle.write_bytes(file.getvalue())
        digest = sha256(file.getvalue()).hexdigest()
        return self.with_row(lambda row: row["detail"].update(bundle_sha256=digest))


def invoked(*arguments: str, **environment: str) -> tuple[int, str]:
    """The exit code and the output of `concord`, which ended on purpose."""
    done = CliRunner().invoke(app, arguments, env={"CONCORD_SIGNING_KEY": None, **environment})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def merged(folder: Path, *runs: Run) -> Path:
    """The path of a results file with the rows of several runs, beside their bundles."""
    (folder / "bundles").mkdir(parents=True)
    for run in runs:
        shutil.copy(run.bundle, folder / "bundles")
    path = folder / "results.json"
    path.write_text(json.dumps({"participants": {"agent": AGENT_ID}, "results": [run.row() for run in runs]}))
    return path


async def every_kind(redis_url: str, folder: Path) -> Mapping[str, Run]:
    """One finished run of each kind, by its name."""
    return {**await _with_a_model(redis_url, folder), **await _by_rules(redis_url, folder)}


async def _with_a_model(redis_url: str, folder: Path) -> dict[str, Run]:
    model = FakeModel(honest_judge())
    async with (
        fake_model(model) as settings,
        _stack(redis_url, folder, settings) as running,
        served_agent(_talk) as agent,
        assistant_of(first_day) as (assistant, assistant_url),
    ):
        task = {"id": "open", "text": "Say what you think of the plan."}
        answers = {"judge": await _run(running, {"agent": agent}, folder / "judge", tasks=[task], num_runs=2)}
        alike: dict[str, Any] = {"tasks": [task], "evaluators": ["judge"]}  # without latencies, equal questions
        await running.row({"agent": agent}, **alike)
        answers["cached judge"] = await _run(running, {"agent": agent}, folder / "cached", **alike)
        model.statuses = [401, 401]  # it is asked once more when all trials are over
        other = {"id": "other", "text": "Say what you think of the other plan."}
        answers["failed judge"] = await _run(running, {"agent": agent}, folder / "failed", tasks=[other])
        model.statuses = []
        found = await _run(running, {"helper": assistant_url}, folder / "assistant", tasks=None, scenario="first_day")
        answers["assistant"] = Run(found.folder, found.assessment_id, (str(assistant.start["api_key"]), "sk-test"))
    return answers


async def patterns(redis_url: str, folder: Path) -> Mapping[str, Run]:
    """Finished runs of a pattern alone: whole, and in two shards."""
    async with _stack(redis_url, folder) as running:
        return await _of_patterns(running, folder)


async def _of_patterns(running: Stack, folder: Path) -> dict[str, Run]:
    pattern: dict[str, Any] = {"tasks": None, "interaction_pattern": PATTERN, "num_runs": 3}
    return {
        "pattern": await _run(running, {}, folder / "pattern", **pattern),
        "shard 0": await _run(running, {}, folder / "shard0", **pattern, num_shards=2),
        "shard 1": await _run(running, {}, folder / "shard1", **pattern, num_shards=2, shard_index=1),
    }


async def _by_rules(redis_url: str, folder: Path) -> dict[str, Run]:
    async with AsyncExitStack() as hosted:
        running = await hosted.enter_async_context(_stack(redis_url, folder, task_secret=TASK_SECRET))
        player = await hosted.enter_async_context(served_agent(_play))
        agent = {"agent": await hosted.enter_async_context(_sample_agent({}))}
        ids = {"agentbeats_ids": {"agent": AGENT_ID}}
        withholding = await hosted.enter_async_context(_sample_agent({"agent/2": Habit.WITHHOLDING}))
        suite: dict[str, Any] = {
            "tasks": None,
            "suite": ["maximum", "prefix-sums", "leader-election"],
            "exchange": "rounds",
            "difficulty": 1,
        }
        parts = {
            f"part {index}": await _run(
                running, {"agent": withholding}, folder / f"part{index}", **suite, num_shards=2, shard_index=index
            )
            for index in range(2)
        }
        return {
            **parts,
            "whole": await _run(running, {"agent": withholding}, folder / "whole", **suite),
            **await _of_patterns(running, folder),
            "rounds": await _run(
                running, {"agent": player}, folder / "rounds", tasks=None, suite=["maximum", "prefix-sums"], **ids
            ),
            "two agents": await _run(
                running, {"ann": player, "bob": withholding}, folder / "two", tasks=None, suite="maximum"
            ),
            "calls": await _run(running, agent, folder / "calls", tasks=None, suite="maximum", topology="chain"),
        }


@asynccontextmanager
async def _sample_agent(habits: dict[str, Habit]) -> AsyncIterator[str]:
    holder = reserved()
    async with served(create_app(f"{url_of(holder)}/", habits), holder) as url:
        yield f"{url}/"


@asynccontextmanager
async def _stack(redis_url: str, folder: Path, *settings: Any, **gateway: Any) -> AsyncIterator[Stack]:  # noqa: ANN401
    async with stack(redis_url, folder / "output", *settings, **gateway) as running:
        yield running


async def _run(running: Stack, participants: Mapping[str, str], folder: Path, **config: object) -> Run:
    row = await running.row(participants, **config)
    assessment_id = row["detail"]["assessment_id"]
    (folder / "bundles").mkdir(parents=True)
    shutil.copy(running.output / "assessments" / f"{assessment_id}.json", folder / "results.json")
    shutil.copy(bundle_file(running.output, assessment_id), folder / "bundles")
    return Run(folder, assessment_id)


async def _play(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(reply(message.text, FAMILIES))


async def _talk(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(f"The plan is sound. You asked: {message.text}")

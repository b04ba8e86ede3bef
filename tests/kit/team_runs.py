"""Runs the example teams, each member in a process of its own, and has a local stack assess them."""

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from concord.assessment.result_row import ResultRow
from concord.loopback import LOOPBACK, free_ports
from concord_cli.assessment_client import assess
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.stack.local import free_stack_ports, local_stack
from concord_cli.stack.probes import HttpProbe
from concord_cli.stack.stack_folder import stack_folder
from concord_cli.stack.supervisor import Program, Supervisor
from concord_cli.terminal import ProgressLog
from examples.teams.catalogue import LEAD, TASK, TEAMS, TOTAL

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Setting:
    """Who judges. `by_code`: the task has a scorer; `model`: the stack's environment variables for the model."""

    name: str
    by_code: bool
    model: Mapping[str, str]


NO_MODEL: Final = {"AGENTBEATS_LLM_API_KEY": ""}
CODE: Final = Setting("code scorer", by_code=True, model=NO_MODEL)


@asynccontextmanager
async def stack_for(setting: Setting, progress: ProgressLog) -> AsyncIterator[str]:
    """Starts a stack without a team of its own, and yields its gateway's URL."""
    nobody = ScenarioFile()
    async with local_stack(nobody, free_stack_ports(nobody), progress, env=setting.model) as stack:
        yield stack.plan.gateway_url


@asynccontextmanager
async def running_team(team: str, notice: Callable[[str], None]) -> AsyncIterator[dict[str, str]]:
    """Starts the processes of a team, and yields the members' URLs.

    A process that ends is restarted, which `notice` reports.
    """
    members = TEAMS[team].members
    ports = dict(zip(members, free_ports(len(members)), strict=True))
    urls = {name: f"http://{LOOPBACK}:{port}/" for name, port in ports.items()}
    async with stack_folder() as folder, Supervisor(folder, notice) as supervisor:
        supervisor.start(_program(team, name, urls) for name in urls)
        await supervisor.ready()
        yield urls


async def row_of(gateway: str, urls: Mapping[str, str], setting: Setting) -> ResultRow:
    """Runs one assessment of a running team. Raises AssessmentError."""
    task: dict[str, str] = {"id": "trees", "text": TASK}
    if setting.by_code:
        task |= {"scorer": "numeric", "target": str(TOTAL)}
    [row] = await assess(gateway, urls, {"start": LEAD, "tasks": [{**task}]}, lambda _: None)
    return ResultRow.model_validate(row)


def member_arguments(team: str, name: str, urls: Mapping[str, str]) -> list[str]:
    """The arguments of `python -m examples.teams` for a member that serves at its URL."""
    peers = [f"{peer}={url}" for peer, url in urls.items() if peer != name]
    return ["--team", team, "--member", name, "--port", str(urlsplit(urls[name]).port), "--peers", *peers]


def _program(team: str, name: str, urls: Mapping[str, str]) -> Program:
    return Program(
        name=name,
        command=(sys.executable, "-m", "examples.teams", *member_arguments(team, name, urls)),
        env={"PYTHONPATH": str(ROOT)},
        probe=HttpProbe(f"{urls[name]}.well-known/agent-card.json"),
    )

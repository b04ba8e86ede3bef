"""Agents in containers: their command lines and their variables."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from concord_cli.errors import UsageError
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.stack.containers import containers_removed, fetch_images, variables_of
from concord_cli.stack.plan import Listening, Ports, StackPlan, plan_stack
from concord_cli.stack.supervisor import Program
from tests.unit.cli.programs import until


def planned(environment: dict[str, str], **participant: object) -> StackPlan:
    scenario = ScenarioFile.model_validate({"participants": [{"name": "agent", **participant}]})
    ports = Ports(7000, Listening("127.0.0.1", 7002, 7001), {"agent": 7003})
    return plan_stack(scenario, ports, "redis://", Path("out"), None, environment, "r1")


def agent_of(plan: StackPlan) -> Program:
    return next(each for group in plan.groups for each in group if each.name == "agent")


def test_an_image_runs_with_this_machines_network_and_the_platforms_arguments() -> None:
    plan = planned({}, image="ghcr.io/you/agent:1")
    assert agent_of(plan).command == (
        *("docker", "run", "--rm", "--init", "--network", "host", "--label", "concord.run=r1", "ghcr.io/you/agent:1"),
        *("--host", "127.0.0.1", "--port", "7003", "--card-url", "http://127.0.0.1:7003/"),
    )


def test_a_secret_of_an_agent_is_not_on_its_command_line() -> None:
    agent = agent_of(planned({"API_KEY": "s3cret"}, image="agent", env={"KEY": "${API_KEY}", "DEPTH": 3, "ON": True}))
    assert agent.env == {"KEY": "s3cret", "DEPTH": "3", "ON": "true"}
    assert [word for word in agent.command if word in {"KEY", "DEPTH", "ON"}] == ["KEY", "DEPTH", "ON"]
    assert "s3cret" not in " ".join(agent.command)


@pytest.mark.parametrize("started_by", [{"cmd": "python -m agent"}, {"function": "reviewer"}])
def test_an_agent_that_can_be_started_without_docker_is(started_by: dict[str, str]) -> None:
    plan = planned({}, image="agent", **started_by)
    assert "docker" not in agent_of(plan).command


@pytest.mark.parametrize(
    ("text", "environment", "value"),
    [
        ("${NAME}", {"NAME": "x"}, "x"),
        ("${NAME}", {"NAME": ""}, ""),
        ("a${NAME:-b}c", {}, "abc"),
        ("${NAME:-b}", {"NAME": ""}, "b"),
        ("${NAME-}", {}, ""),
        ("5$", {}, "5$"),
    ],
)
def test_variables_are_replaced_as_compose_does(text: str, environment: dict[str, str], value: str) -> None:
    assert variables_of("agent", {"KEY": text}, environment) == {"KEY": value}


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(UsageError, match="agent: set the variable API_KEY"):
        planned({}, image="agent", env={"KEY": "${API_KEY}"})


async def test_without_docker_an_image_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="agent has only an `image`, and docker is not installed"):
        await fetch_images({"agent": "agent"}, print)


FAKE_DOCKER = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/asked"
[ "$1" = ps ] && echo one two
exit 0
"""

WAITS_TO_BE_KILLED = """
import asyncio
from concord_cli.stack.containers import containers_removed

async def main():
    async with containers_removed("r1"):
        print("running", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with what a docker that has two containers of the run was asked."""
    program = tmp_path / "docker"
    program.write_text(FAKE_DOCKER)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path / "asked"


def asked(docker: Path) -> list[str]:
    return docker.read_text().splitlines() if docker.exists() else []


async def test_the_containers_of_a_run_are_removed_when_it_ends(docker: Path) -> None:
    async with containers_removed("r1"):
        assert asked(docker) == []
    assert asked(docker) == [
        "ps --all --quiet --filter label=concord.run=r1",
        "rm --force --volumes one two",
    ]


async def test_the_containers_of_a_run_are_removed_when_it_is_killed(docker: Path) -> None:
    run = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WAITS_TO_BE_KILLED), stdout=asyncio.subprocess.PIPE
    )
    assert run.stdout is not None
    assert await run.stdout.readline() == b"running\n"
    run.kill()
    await run.wait()
    await until(lambda: asked(docker)[-1:] == ["rm --force --volumes one two"])

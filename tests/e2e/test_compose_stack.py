"""The Compose stack in containers: secrets, limits, networks, and workers that are added during an assessment."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from tests.kit.processes import until
from tests.kit.redis_servers import containers_required, engine_answers

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1200)]

ROOT = Path(__file__).parents[2]
KEY = "a-key-that-no-container-shows"
RUNS = 80

SCENARIO = f"""
[green_agent]
endpoint = "http://gateway:9009"

[config]
num_runs = {RUNS}

[config.interaction_pattern]
agents = ["a", "b", "c", "d"]
edges = [
    {{ from = "a", to = "b" }}, {{ from = "b", to = "c" }}, {{ from = "c", to = "d" }}, {{ from = "d", to = "a" }},
]
steps_count = 4000
"""

OF_TIME = frozenset({"assessment_id", "bundle_sha256", "trace_id", "time_used", "latency", "latency_metrics"})
"""The keys whose values are times, ids that every assessment draws, or follow from them."""


class Stack:
    """The stack under a project name of its own, with images of its own names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"concord-test-{uuid4().hex[:8]}"
        services = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())["services"]
        built = {
            name: {"image": f"{self.name}-{service['image']}"}
            for name, service in services.items()
            if "build" in service
        }
        (folder / "images.yaml").write_text(yaml.safe_dump({"services": built}))
        (folder / "scenario.toml").write_text(SCENARIO)

    def command(self, *arguments: str) -> list[str]:
        files = ("--file", str(ROOT / "docker-compose.yaml"), "--file", str(self.folder / "images.yaml"))
        return ["docker", "compose", "--project-name", self.name, *files, *arguments]

    @property
    def environment(self) -> dict[str, str]:
        user = {"UID": str(os.getuid()), "GID": str(os.getgid())}
        return os.environ | user | {"CONCORD_TASK_SECRET": "0" * 64, "CONCORD_TOKEN_SECRET": KEY * 2}

    def compose(self, *arguments: str) -> str:
        command = self.command(*arguments)
        done = subprocess.run(command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def containers(self, service: str) -> list[str]:
        return self.compose("ps", "--quiet", service).split()

    def inspected(self, service: str) -> Any:  # noqa: ANN401 - JSON
        [found] = json.loads(docker("inspect", self.containers(service)[0]))
        return found

    def assess(self, name: str) -> subprocess.Popen[str]:
        """The client's container, which has just been started."""
        files = ("--volume", f"{self.folder}:/work")
        client = ("run", "--rm", "--no-deps", "-T", *files, "client")
        command = self.command(*client, "assess", "/work/scenario.toml", "-o", f"/work/{name}.json")
        return subprocess.Popen(command, cwd=ROOT, env=self.environment, stderr=subprocess.STDOUT, text=True)

    def row(self, name: str) -> Any:  # noqa: ANN401 - JSON
        [row] = json.loads((self.folder / f"{name}.json").read_text())["results"]
        return row

    def evaluated(self) -> dict[str, float]:
        """How many trials each worker of the fast queue evaluated, by container."""
        return {each: _completed(each) for each in self.containers("evaluator")}


def docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _completed(container: str) -> float:
    exposition = docker("exec", container, "curl", "--silent", "--fail", "http://127.0.0.1:9464/metrics")
    wanted = 'concord_evaluator_jobs_total{function="evaluate_trial",outcome="completed",queue="fast"} '
    return next(float(line.removeprefix(wanted)) for line in exposition.splitlines() if line.startswith(wanted))


def but_for_times(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A row without its times and random ids."""
    if isinstance(value, dict):
        return {
            key: but_for_times(each)
            for key, each in value.items()
            if key not in OF_TIME and not key.endswith(("_ms", "_at"))
        }
    return [but_for_times(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    if not engine_answers() and not containers_required():
        pytest.skip("no container engine answers")
    folder = tmp_path_factory.mktemp("stack")
    folder.chmod(0o777)
    running = Stack(folder)
    try:
        running.compose("build", "collector", "evaluator", "gateway", "client", "coordinator")
        running.compose("up", "--detach", "--wait", "gateway", "evaluator", "evaluator-llm", "coordinator")
        yield running
    finally:
        running.compose("--profile", "client", "down", "--volumes", "--timeout", "5", "--rmi", "local")
        images = docker("image", "ls", "--quiet", "--filter", f"reference={running.name}-*").split()
        if images:
            docker("image", "rm", "--force", *sorted(set(images)))


def test_a_secret_is_in_its_file_and_nowhere_else_in_the_container(stack: Stack) -> None:
    [gateway] = stack.containers("gateway")
    assert docker("exec", gateway, "cat", "/run/secrets/concord_token_secret") == KEY * 2
    assert docker("exec", gateway, "cat", "/run/secrets/concord_api_keys") == ""
    assert KEY not in json.dumps(stack.inspected("gateway"))


def test_the_limits_of_a_service_hold_for_its_container(stack: Stack) -> None:
    host = stack.inspected("collector")["HostConfig"]
    assert (host["Memory"], host["NanoCpus"], host["PidsLimit"]) == (512 * 2**20, 10**9, 128)


@pytest.mark.parametrize(("service", "code"), [("gateway", 0), ("coordinator", 1)])
def test_participants_do_not_reach_redis(stack: Stack, service: str, code: int) -> None:
    script = "import socket; socket.create_connection(('redis', 6379), 3)"
    [container] = stack.containers(service)
    tried = subprocess.run(["docker", "exec", container, "python", "-c", script], check=False, capture_output=True)
    assert tried.returncode == code


def test_workers_added_during_an_assessment_do_the_same_work_with_the_same_result(stack: Stack) -> None:
    alone = stack.assess("alone")
    assert alone.wait() == 0
    before = stack.evaluated()
    assert len(before) == 1

    scaled = stack.assess("scaled")
    until(lambda: sum(stack.evaluated().values()) > sum(before.values()), 120)
    stack.compose("up", "--detach", "--no-recreate", "--no-deps", "--scale", "evaluator=4", "evaluator")
    assert scaled.wait() == 0

    after = stack.evaluated()
    assert len(after) == 4
    # A job may run more than once, which changes nothing.
    assert sum(after.values()) >= sum(before.values()) + RUNS
    assert len([each for each, count in after.items() if count > before.get(each, 0)]) > 1
    assert but_for_times(stack.row("scaled")) == but_for_times(stack.row("alone"))
    assert stack.row("alone")["detail"]["scoring"]["usable_trials"] == RUNS

"""The images meet the requirements of the leaderboard's runner, and have only the packages of others that they run."""

import json
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.kit.redis_servers import containers_required, engine_answers

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
KINDS = ["client", "collector", "environment", "evaluator", "gateway", "green", "purple", "sample"]
# Modules that an image does not need, and that are heavy or help an intruder.
ABSENT = {
    "client": ["networkx", "openai", "redis", "pytest"],
    "collector": ["a2a", "networkx", "openai", "pytest"],
    "environment": ["a2a", "networkx", "numpy", "openai", "redis", "pytest"],
    "evaluator": ["a2a", "pandas", "pytest", "scipy"],
    "gateway": ["networkx", "numpy", "pytest"],
    "green": ["anthropic", "pandas", "pytest", "scipy"],
    "purple": ["networkx", "numpy", "redis", "pytest"],
    "sample": ["networkx", "numpy", "redis", "openai", "pytest"],
}


def docker(*arguments: str) -> str:
    """The output of a docker command. Raises CalledProcessError if it fails."""
    done = subprocess.run(["docker", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module", params=KINDS)
def image(request: pytest.FixtureRequest) -> str:
    """The id of a freshly built image."""
    return build(request.param)


@cache
def build(kind: str) -> str:
    """The id of the image of a kind, built once by each run of the tests. Skips the test without a container engine."""
    if not engine_answers() and not containers_required():
        pytest.skip("no container engine answers")
    names = ("--tag", f"concord-{kind}", "--file", f"deploy/{kind}.Dockerfile")
    return docker("build", "--quiet", "--platform", "linux/amd64", *names, ".")


def in_image(image: str, *command: str) -> str:
    return docker("run", "--rm", "--entrypoint", command[0], image, *command[1:])


def test_an_image_is_for_the_platform_runs_without_root_and_has_curl_for_health_checks(image: str) -> None:
    assert docker("image", "inspect", "--format", "{{.Os}}/{{.Architecture}}", image) == "linux/amd64"
    user, curl, *_ = in_image(image, "sh", "-c", "id -u && curl --version").splitlines()
    assert user != "0"
    assert curl.startswith("curl ")


@pytest.mark.parametrize("kind", KINDS)
def test_an_image_contains_no_unneeded_modules(kind: str) -> None:
    script = "import importlib.util, sys; print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name)))"
    assert in_image(build(kind), "python", "-c", script, *ABSENT[kind]) == ""


@pytest.fixture
def participant() -> Iterator[str]:
    """The name of a running participant's container."""
    command = ("--host", "0.0.0.0", "--port", "9009", "--card-url", "http://agent:9009")  # noqa: S104 - in a container
    container = docker("run", "--detach", build("purple"), *command)
    yield container
    docker("rm", "--force", container)


def test_a_participants_container_serves_its_card_when_started_as_by_the_platform(participant: str) -> None:
    check = "until curl --fail --silent http://localhost:9009/.well-known/agent-card.json; do sleep 0.2; done"
    card = json.loads(docker("exec", participant, "timeout", "80", "sh", "-c", check))
    assert {each["url"] for each in card["supportedInterfaces"]} == {"http://agent:9009/"}

"""Tasks in rounds and by calls, played by plain agents of the A2A release that the platform's agents use."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.kit.assessing import request, row_of, task_of
from tests.kit.ports import free_port

CONFIG = {"suite": "maximum", "difficulty": 1, "quiet_s": 0.1, "closing_cap_s": 0.3}


@contextmanager
def plain_agents(python: str, program: str) -> Iterator[list[str]]:
    """The URLs of three agents that know nothing of Concord, in a process of their own."""
    ports = [free_port() for _ in range(3)]
    command = [python, str(Path(__file__).with_name(program)), *map(str, ports)]
    with subprocess.Popen(command) as process:
        try:
            for port in ports:
                wait_for_card(f"http://127.0.0.1:{port}/.well-known/agent-card.json")
            yield [f"http://127.0.0.1:{port}/" for port in ports]
        finally:
            process.kill()


@pytest.fixture(scope="module")
def agents(a2a_v03_python: str) -> Iterator[list[str]]:
    with plain_agents(a2a_v03_python, "a2a_v03_agent.py") as urls:
        yield urls


@pytest.fixture(scope="module")
def callers(a2a_v03_python: str) -> Iterator[list[str]]:
    with plain_agents(a2a_v03_python, "a2a_v03_caller.py") as urls:
        yield urls


def wait_for_card(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            httpx.get(url).raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"{url} is not served")


TEAMS = pytest.mark.parametrize(
    ("count", "seats"), [(1, 5), (3, 3)], ids=["one agent in five seats", "a team of three agents"]
)


@TEAMS
async def test_plain_agents_play_rounds(green_agent: str, agents: list[str], count: int, seats: int) -> None:
    async with httpx.AsyncClient(timeout=60) as http:
        asked = request(CONFIG, {f"agent_{number}": url for number, url in enumerate(agents[:count], start=1)})
        row = row_of(await task_of(http, green_agent, asked))
    [trial] = row["detail"]["trials"]
    assert trial["grading"]["value"] == 1, trial["grading"]
    assert len(trial["team_task"]["seats"]) == seats
    assert trial["team_task"]["shared_process"] is (count == 1)
    assert trial["team_task"]["messages"] == seats * (seats - 1)
    assert trial["team_task"]["exchange"] == "rounds", "its card does not announce calls"


@TEAMS
async def test_plain_agents_play_by_calls_with_the_addresses_in_their_briefs(
    green_agent: str, callers: list[str], count: int, seats: int
) -> None:
    async with httpx.AsyncClient(timeout=60) as http:
        named = {f"agent_{number}": url for number, url in enumerate(callers[:count], start=1)}
        row = row_of(await task_of(http, green_agent, request(CONFIG | {"exchange": "calls"}, named)))
    [trial] = row["detail"]["trials"]
    assert trial["grading"]["value"] == 1, trial["grading"]
    assert trial["team_task"]["exchange"] == "calls"
    assert trial["team_task"]["messages"] == seats * (seats - 1), "each seat asks all others"
    assert trial["team_task"]["unexplained"] == []
    assert all(each["error"] is None for each in trial["calls"])

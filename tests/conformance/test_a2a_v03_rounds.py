"""Tasks in rounds and by calls, played by plain agents of the A2A release that the platform's agents use."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.kit.assessing import request, row_of, task_of
from tests.kit.ports import free_port

AGENT = Path(__file__).with_name("a2a_v03_agent.py")
CALLER = Path(__file__).with_name("a2a_v03_caller.py")
CONFIG = {"suite": "maximum", "difficulty": 1, "quiet_s": 0.1, "closing_cap_s": 0.3}


@contextmanager
def plain_agents(count: int, program: Path = AGENT) -> Iterator[list[str]]:
    """The URLs of agents that know nothing of Concord, each a process of its own."""
    python = os.environ.get("CONCORD_A2A_V03_PYTHON", ".venv-a2a-v03/bin/python")
    assert Path(python).exists(), "no environment with the 0.3 SDK: `make test` makes it"
    ports = [free_port() for _ in range(count)]
    with ExitStack() as running:
        for port in ports:
            process = subprocess.Popen([python, str(program), str(port)])
            running.callback(process.wait)
            running.callback(process.kill)
        for port in ports:
            wait_for_card(f"http://127.0.0.1:{port}/.well-known/agent-card.json")
        yield [f"http://127.0.0.1:{port}/" for port in ports]


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
async def test_plain_agents_play_rounds(green_agent: str, count: int, seats: int) -> None:
    with plain_agents(count) as urls:
        async with httpx.AsyncClient(timeout=60) as http:
            asked = request(CONFIG, {f"agent_{number}": url for number, url in enumerate(urls, start=1)})
            row = row_of(await task_of(http, green_agent, asked))
    [trial] = row["detail"]["trials"]
    assert trial["grading"]["value"] == 1, trial["grading"]
    assert len(trial["team_task"]["seats"]) == seats
    assert trial["team_task"]["shared_process"] is (count == 1)
    assert trial["team_task"]["messages"] == seats * (seats - 1)
    assert trial["team_task"]["exchange"] == "rounds", "its card does not announce calls"


@TEAMS
async def test_plain_agents_play_by_calls_with_the_addresses_in_their_briefs(
    green_agent: str, count: int, seats: int
) -> None:
    with plain_agents(count, CALLER) as urls:
        async with httpx.AsyncClient(timeout=60) as http:
            named = {f"agent_{number}": url for number, url in enumerate(urls, start=1)}
            row = row_of(await task_of(http, green_agent, request(CONFIG | {"exchange": "calls"}, named)))
    [trial] = row["detail"]["trials"]
    assert trial["grading"]["value"] == 1, trial["grading"]
    assert trial["team_task"]["exchange"] == "calls"
    assert trial["team_task"]["messages"] == seats * (seats - 1), "each seat asks all others"
    assert trial["team_task"]["unexplained"] == []
    assert all(each["error"] is None for each in trial["calls"])

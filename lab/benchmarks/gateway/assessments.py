"""Assessments: the resources that many in a row leave in use, many at once, and one with a very large request."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import redis

from lab.benchmarks.processes import redis_server, wait_for
from lab.benchmarks.tables import ResultTable
from tests.kit.ports import free_port

WARM_UP: Final = 50
SIDE_BY_SIDE: Final = 8
AT_ONCE: Final = 200
PATTERNS: Final = 1000
"""In the large request: as many as an assessment may have trials, in a message of some hundred kilobytes."""

KEEP_S: Final = 5
"""How long Redis keeps ended assessments: not for an hour here, so that the benchmark sees them expire."""

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class GreenAgent:
    """A running green agent (a gateway and its workers, each a process), and a team that answers, by role."""

    url: str
    team: dict[str, str]
    redis_url: str
    output: Path
    processes: dict[str, int]


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """The resources in use: resident bytes and descriptors by process, and the contents of Redis and the disk."""

    resident: dict[str, int]
    descriptors: dict[str, int]
    redis_keys: int
    redis_bytes: int
    files: int


def measure(*, soak_s: float) -> list[ResultTable]:
    """All figures of assessments: in a row for `soak_s`, then many at once, then a large one."""
    with tempfile.TemporaryDirectory() as folder, green_agent(Path(folder), KEEP_S) as agent:
        return asyncio.run(_measured(agent, soak_s))


async def _measured(agent: GreenAgent, soak_s: float) -> list[ResultTable]:
    async with httpx.AsyncClient(timeout=600) as http:
        await _side_by_side(agent, lambda each: assess(http, agent, *each), count=WARM_UP)
        await asyncio.sleep(2 * KEEP_S)
        before = _resource_usage(agent)
        began = time.monotonic()
        n_row = await _side_by_side(agent, lambda each: assess(http, agent, *each), until=began + soak_s)
        took_s = time.monotonic() - began
        await asyncio.sleep(2 * KEEP_S)
        in_a_row = _grown(before, _resource_usage(agent), n_row, took_s)
        return [in_a_row, await _at_once(agent), await _large(http, agent)]


async def _at_once(agent: GreenAgent) -> ResultTable:
    before, began = _resource_usage(agent), time.monotonic()

    async def timed(http: httpx.AsyncClient) -> float:
        await assess(http, agent, _pattern(), {})
        return time.monotonic() - began

    async with httpx.AsyncClient(timeout=600, limits=httpx.Limits(max_connections=AT_ONCE)) as http:
        ended = sorted(await asyncio.gather(*(timed(http) for _ in range(AT_ONCE))))
    await asyncio.sleep(1)  # until the server has closed its ends
    after = _resource_usage(agent)
    return ResultTable(
        f"{AT_ONCE} assessments at once",
        "Patterns of one trial. Assessments beyond CONCORD_MAX_ASSESSMENTS wait for their turn, and all complete.",
        ("", "Value"),
        [
            ("the first has ended after", f"{ended[0]:.1f} s"),
            ("half of them", f"{statistics.median(ended):.1f} s"),
            ("all of them", f"{ended[-1]:.1f} s"),
            ("descriptors of the gateway, before and after", _both(before, after, "gateway", "descriptors")),
        ],
    )


async def _large(http: httpx.AsyncClient, agent: GreenAgent) -> ResultTable:
    config = {"tasks": [{"id": f"p{number}", "interaction_pattern": _EDGES} for number in range(PATTERNS)]}
    size = len(json.dumps({"config": config}))
    await http.get(f"{agent.url}longest")
    before, began = _resource_usage(agent), time.monotonic()
    await assess(http, agent, config, {})
    longest = (await http.get(f"{agent.url}longest")).json()
    after = _resource_usage(agent)
    return ResultTable(
        "One message with the largest allowed request",
        f"{PATTERNS} patterns in {size // 1000} kB, each a trial. Meanwhile the gateway's loop, asked every 5 ms.",
        ("", "Value"),
        [
            ("longest time in which the gateway's loop did nothing else", f"{longest:.0f} ms"),
            ("until the row is there", f"{time.monotonic() - began:.1f} s"),
            *(
                (f"resident memory of the {name}, before and after", _both(before, after, name, "resident"))
                for name in agent.processes
            ),
        ],
    )


_EDGES: Final = {
    "agents": ["A", "B", "C"],
    "edges": [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}, {"from": "C", "to": "A"}],
}


def _pattern() -> dict[str, Any]:
    return {"interaction_pattern": _EDGES}


async def _side_by_side(
    agent: GreenAgent,
    assess: Callable[[tuple[dict[str, Any], dict[str, str]]], Awaitable[None]],
    *,
    count: int | None = None,
    until: float | None = None,
) -> int:
    """Runs assessments in a row in `SIDE_BY_SIDE` coroutines; three of four are patterns. Returns their number."""
    done = 0

    async def run_in_a_row() -> None:
        nonlocal done
        while done < count if count is not None else time.monotonic() < (until or 0):
            done += 1
            live = done % 4 == 0
            echo = {"task": "echo", "quiet_s": 0, "closing_cap_s": 0.2}
            await assess((echo, agent.team) if live else (_pattern(), {}))

    await asyncio.gather(*(run_in_a_row() for _ in range(SIDE_BY_SIDE)))
    return done


async def assess(
    http: httpx.AsyncClient, agent: GreenAgent, config: dict[str, Any], participants: dict[str, str]
) -> None:
    """Runs one assessment. Raises AssertionError if it does not complete."""
    await send(http, agent.url, config, participants)


async def send(
    http: httpx.AsyncClient, url: str, config: dict[str, Any], participants: dict[str, str]
) -> dict[str, Any]:
    """Runs one assessment of the gateway at `url`. Returns the row. Raises AssertionError if it does not complete."""
    parts = [{"kind": "text", "text": json.dumps({"participants": participants, "config": config})}]
    message = {"kind": "message", "role": "user", "messageId": os.urandom(8).hex(), "parts": parts}
    params = {"message": message, "configuration": {"blocking": True}}
    answer = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params})
    task = answer.json().get("result", {})
    assert task.get("status", {}).get("state") == "completed", str(task.get("status", answer.text))[:500]
    [row] = [part["data"] for artifact in task["artifacts"] for part in artifact["parts"] if "data" in part]
    found: dict[str, Any] = row
    return found


def _grown(before: ResourceUsage, after: ResourceUsage, n_row: int, took_s: float) -> ResultTable:
    rows = [
        *((f"resident memory of the {name}", *_pair(before, after, name, "resident")) for name in before.resident),
        *((f"descriptors of the {name}", *_pair(before, after, name, "descriptors")) for name in before.resident),
        ("keys in Redis", str(before.redis_keys), str(after.redis_keys)),
        ("memory of Redis", _mib(before.redis_bytes), _mib(after.redis_bytes)),
        ("files of assessments", str(before.files), str(after.files)),
    ]
    return ResultTable(
        "Assessments in a row",
        f"{n_row} in {took_s:.0f} s, {SIDE_BY_SIDE} side by side, every fourth of a live team of two, after {WARM_UP} "
        f"that are not counted. Redis keeps what has ended for {KEEP_S} s here; both states are {2 * KEEP_S} s later. "
        "The remaining keys mark live trials as closed until their tokens expire.",
        ("", "before", "after"),
        rows,
    )


def _pair(before: ResourceUsage, after: ResourceUsage, name: str, what: str) -> tuple[str, str]:
    values = getattr(before, what)[name], getattr(after, what)[name]
    return (_mib(values[0]), _mib(values[1])) if what == "resident" else (str(values[0]), str(values[1]))


def _both(before: ResourceUsage, after: ResourceUsage, name: str, what: str) -> str:
    return ", ".join(_pair(before, after, name, what))


def _mib(size: int) -> str:
    return f"{size / MIB:.0f} MiB"


def _resource_usage(agent: GreenAgent) -> ResourceUsage:
    with redis.Redis.from_url(agent.redis_url) as client:
        keys, used = client.dbsize(), client.info("memory")["used_memory"]
    return ResourceUsage(
        resident={name: _resident(pid) for name, pid in agent.processes.items()},
        descriptors={name: len(list(Path(f"/proc/{pid}/fd").iterdir())) for name, pid in agent.processes.items()},
        redis_keys=keys,
        redis_bytes=used,
        files=len(list((agent.output / "assessments").glob("*.json"))),
    )


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _answers(url: str) -> bool:
    return httpx.get(url).is_success


_TEAM: Final = ("one", "two")


@contextmanager
def green_agent(folder: Path, keep_s: int) -> Iterator[GreenAgent]:
    """Starts a green agent and two agents that echo. Redis keeps ended assessments for `keep_s` seconds."""
    output = folder / "output"
    with redis_server(folder / "redis") as redis_url, ExitStack() as running:
        environment = os.environ | {"REDIS_URL": redis_url, "CONCORD_OUTPUT_DIR": str(output)}
        environment |= {
            "CONCORD_LOG_LEVEL": "ERROR",
            "CONCORD_KEEP_S": str(keep_s),
            "CONCORD_MAX_WAITING": str(AT_ONCE),
        }
        ports = {name: free_port() for name in ("gateway", *_TEAM)}
        commands: dict[str, Sequence[str]] = {
            "gateway": ("lab.benchmarks.servers", "gateway", str(ports["gateway"]), redis_url),
            **{name: ("lab.benchmarks.servers", "echo_agent", str(ports[name]), redis_url) for name in _TEAM},
            "fast worker": ("concord_evaluator", "--queue", "fast"),
            "LLM worker": ("concord_evaluator", "--queue", "llm"),
        }
        started = {}
        for name, words in commands.items():
            process = subprocess.Popen([sys.executable, "-m", *words], env=environment)
            running.callback(process.wait)
            running.callback(process.terminate)
            started[name] = process.pid
        urls = {name: f"http://127.0.0.1:{port}/" for name, port in ports.items()}
        for url in urls.values():
            wait_for(partial(_answers, f"{url}usage"))
        services = {name: pid for name, pid in started.items() if name not in _TEAM}
        yield GreenAgent(urls["gateway"], {name: urls[name] for name in _TEAM}, redis_url, output, services)

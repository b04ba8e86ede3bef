"""Assessments without end: what many in a row leave in the gateway, its workers and Redis, and how many at once end."""

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

from benchmarks.collector import redis_server, wait_until
from benchmarks.figures import Figures
from tests.redis_servers import free_port

WARM_UP: Final = 50
SIDE_BY_SIDE: Final = 8
AT_ONCE: Final = 200
PATTERNS: Final = 1000
"""Of the large request: as many trials as an assessment may have, in a message of some hundred kilobytes."""

KEEP_S: Final = 5
"""How long Redis keeps what has ended: here not for an hour, so that it can be seen to go."""

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class House:
    """A whole green agent: its gateway and workers, each a process, and an agent that answers."""

    url: str
    agent: str
    redis_url: str
    output: Path
    processes: dict[str, int]


@dataclass(frozen=True, slots=True)
class State:
    """What is taken at one moment: by process, resident bytes and descriptors; and what Redis and the disk hold."""

    resident: dict[str, int]
    descriptors: dict[str, int]
    redis_keys: int
    redis_bytes: int
    files: int


def measure(soak_s: float) -> list[Figures]:
    """All figures of assessments: in a row for `soak_s`, then many at once, then a large one."""
    with tempfile.TemporaryDirectory() as folder, _house(Path(folder)) as house:
        return asyncio.run(_measured(house, soak_s))


async def _measured(house: House, soak_s: float) -> list[Figures]:
    async with httpx.AsyncClient(timeout=600) as http:
        await _side_by_side(house, lambda each: _assess(http, house, *each), count=WARM_UP)
        await asyncio.sleep(2 * KEEP_S)
        before = _state(house)
        began = time.monotonic()
        n_row = await _side_by_side(house, lambda each: _assess(http, house, *each), until=began + soak_s)
        took_s = time.monotonic() - began
        await asyncio.sleep(2 * KEEP_S)
        in_a_row = _grown(before, _state(house), n_row, took_s)
        return [in_a_row, await _at_once(house), await _large(http, house)]


async def _at_once(house: House) -> Figures:
    before, began = _state(house), time.monotonic()

    async def timed(http: httpx.AsyncClient) -> float:
        await _assess(http, house, _pattern(), {})
        return time.monotonic() - began

    async with httpx.AsyncClient(timeout=600, limits=httpx.Limits(max_connections=AT_ONCE)) as http:
        ended = sorted(await asyncio.gather(*(timed(http) for _ in range(AT_ONCE))))
    await asyncio.sleep(1)  # until the server has closed its ends
    after = _state(house)
    return Figures(
        f"{AT_ONCE} assessments at once",
        "Patterns of one trial; those beyond CONCORD_MAX_ASSESSMENTS wait for their turn. All of them end.",
        ("", "Value"),
        [
            ("the first has ended after", f"{ended[0]:.1f} s"),
            ("half of them", f"{statistics.median(ended):.1f} s"),
            ("all of them", f"{ended[-1]:.1f} s"),
            ("descriptors of the gateway, before and after", _both(before, after, "gateway", "descriptors")),
        ],
    )


async def _large(http: httpx.AsyncClient, house: House) -> Figures:
    config = {"tasks": [{"id": f"p{number}", "interaction_pattern": _EDGES} for number in range(PATTERNS)]}
    size = len(json.dumps({"config": config}))
    await http.get(f"{house.url}longest")
    before, began = _state(house), time.monotonic()
    await _assess(http, house, config, {})
    longest = (await http.get(f"{house.url}longest")).json()
    after = _state(house)
    return Figures(
        "One message with as much as it may ask for",
        f"{PATTERNS} patterns in {size // 1000} kB, each a trial. Meanwhile the gateway's loop, asked every 5 ms.",
        ("", "Value"),
        [
            ("longest time in which the gateway's loop did nothing else", f"{longest:.0f} ms"),
            ("until the row is there", f"{time.monotonic() - began:.1f} s"),
            *(
                (f"resident memory of the {name}, before and after", _both(before, after, name, "resident"))
                for name in house.processes
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
    house: House,
    assess: Callable[[tuple[dict[str, Any], dict[str, str]]], Awaitable[None]],
    *,
    count: int | None = None,
    until: float | None = None,
) -> int:
    """Assessments one after the other in `SIDE_BY_SIDE` rows; three of four are patterns. Returns how many."""
    done = 0

    async def row() -> None:
        nonlocal done
        while done < count if count is not None else time.monotonic() < (until or 0):
            done += 1
            live = done % 4 == 0
            team = {"one": house.agent, "two": house.agent}
            await assess(({"task": "echo", "quiet_s": 0, "closing_cap_s": 0.2}, team) if live else (_pattern(), {}))

    await asyncio.gather(*(row() for _ in range(SIDE_BY_SIDE)))
    return done


async def _assess(http: httpx.AsyncClient, house: House, config: dict[str, Any], participants: dict[str, str]) -> None:
    """One assessment, from its message to its row. Raises AssertionError for one without."""
    parts = [{"kind": "text", "text": json.dumps({"participants": participants, "config": config})}]
    message = {"kind": "message", "role": "user", "messageId": os.urandom(8).hex(), "parts": parts}
    params = {"message": message, "configuration": {"blocking": True}}
    answer = await http.post(house.url, json={"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params})
    task = answer.json().get("result", {})
    assert task.get("status", {}).get("state") == "completed", str(task.get("status", answer.text))[:500]  # noqa: S101 - as `load.send_all`


def _grown(before: State, after: State, n_row: int, took_s: float) -> Figures:
    rows = [
        *((f"resident memory of the {name}", *_pair(before, after, name, "resident")) for name in before.resident),
        *((f"descriptors of the {name}", *_pair(before, after, name, "descriptors")) for name in before.resident),
        ("keys in Redis", str(before.redis_keys), str(after.redis_keys)),
        ("memory of Redis", _mib(before.redis_bytes), _mib(after.redis_bytes)),
        ("files of assessments", str(before.files), str(after.files)),
    ]
    return Figures(
        "Assessments in a row",
        f"{n_row} in {took_s:.0f} s, {SIDE_BY_SIDE} side by side, every fourth of a live team of two, after {WARM_UP} "
        f"that are not counted. Redis keeps what has ended for {KEEP_S} s here; both states are {2 * KEEP_S} s later. "
        "The keys that remain say of live trials that they were closed, until their tokens end.",
        ("", "before", "after"),
        rows,
    )


def _pair(before: State, after: State, name: str, what: str) -> tuple[str, str]:
    values = getattr(before, what)[name], getattr(after, what)[name]
    return (_mib(values[0]), _mib(values[1])) if what == "resident" else (str(values[0]), str(values[1]))


def _both(before: State, after: State, name: str, what: str) -> str:
    return ", ".join(_pair(before, after, name, what))


def _mib(size: int) -> str:
    return f"{size / MIB:.0f} MiB"


def _state(house: House) -> State:
    with redis.Redis.from_url(house.redis_url) as client:
        keys, used = client.dbsize(), client.info("memory")["used_memory"]
    return State(
        resident={name: _resident(pid) for name, pid in house.processes.items()},
        descriptors={name: len(list(Path(f"/proc/{pid}/fd").iterdir())) for name, pid in house.processes.items()},
        redis_keys=keys,
        redis_bytes=used,
        files=len(list((house.output / "assessments").glob("*.json"))),
    )


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _answers(url: str) -> bool:
    return httpx.get(url).is_success


@contextmanager
def _house(folder: Path) -> Iterator[House]:
    output = folder / "output"
    with redis_server(folder / "redis") as redis_url, ExitStack() as running:
        environment = os.environ | {"REDIS_URL": redis_url, "CONCORD_OUTPUT_DIR": str(output)}
        environment |= {
            "CONCORD_LOG_LEVEL": "ERROR",
            "CONCORD_KEEP_S": str(KEEP_S),
            "CONCORD_MAX_WAITING": str(AT_ONCE),
        }
        ports = {name: free_port() for name in ("gateway", "agent")}
        commands: dict[str, Sequence[str]] = {
            "gateway": ("benchmarks.servers", "gateway", str(ports["gateway"]), redis_url),
            "agent": ("benchmarks.servers", "echo_agent", str(ports["agent"]), redis_url),
            "fast worker": ("concord_evaluator", "--queue", "fast"),
            "LLM worker": ("concord_evaluator", "--queue", "llm"),
        }
        started = {}
        for name, words in commands.items():
            process = subprocess.Popen([sys.executable, "-m", *words], env=environment)  # noqa: S603 - our own programs
            running.callback(process.wait)
            running.callback(process.terminate)
            started[name] = process.pid
        urls = {name: f"http://127.0.0.1:{port}/" for name, port in ports.items()}
        for url in urls.values():
            wait_until(partial(_answers, f"{url}usage"))
        del started["agent"]
        yield House(urls["gateway"], urls["agent"], redis_url, output, started)

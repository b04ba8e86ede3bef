"""The cost of the environment's journal: compared with an environment without one, and on a slow disk."""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median
from unittest import mock

import httpx

from concord_environment.environment import new_simulation
from concord_environment.persistence.segments import segments_of
from concord_environment.persistence.store import Store
from concord_environment_client import UESClient
from lab.benchmarks.environment.server import START, served
from lab.benchmarks.tables import ResultTable

REPEATS = 200
CALLERS, CALLS = 32, 40
EVENTS = 10_000
SLOW_S = 0.005
"""About the duration of an fsync on a disk without a power-safe cache (seconds)."""

MAIL = {
    "from_address": "a@b.example",
    "to_addresses": ["user@example.com"],
    "subject": "Hello",
    "body_text": "There. " * 30,
}


def tables() -> list[ResultTable]:
    """The cost of the journal per call, and the duration of a restart."""
    variants = [
        ("nothing", None),
        ("every change", 0.0),
        (f"every change, an fsync takes {SLOW_S * 1e3:.0f} ms more", SLOW_S),
    ]
    return [
        ResultTable(
            "With and without CONCORD_SNAPSHOT_FILE, over HTTP",
            f"Callers and server share a process. One caller: the median of {REPEATS}. {CALLERS} callers with {CALLS} "
            "writes each: the writes per second, the writes per fsync, and the duration of a concurrent read. An fsync "
            f"of 1 KB takes {_fsync_ms():.2f} ms on the disk of the measurement.",
            (
                "stored on disk",
                "POST /email/receive, ms",
                "GET /simulation/status, ms",
                f"writes/s of {CALLERS}",
                "writes per fsync",
                "concurrent GET, ms",
                f"advance over {EVENTS:,}, s",
                "bytes per mail",
            ),
            [(name, *_measured(slow_s)) for name, slow_s in variants],
        ),
        _restarts(),
    ]


def _measured(slow_s: float | None) -> tuple[str, ...]:
    with _files(slow_s) as (path, store), served(new_simulation(0, START), store) as (admin, _):
        one = median(_seconds(lambda: admin.email.receive(**MAIL)) for _ in range(REPEATS))
        size = sum(segment.path.stat().st_size for segment in segments_of(path)) / REPEATS
        read = median(_seconds(lambda: admin.simulation.status()) for _ in range(REPEATS))
        before = store.last_frame if store else 0
        took, meanwhile = asyncio.run(_crowd(admin))
        frames = store.last_frame - before if store else 0
        advanced = _advance(admin)
    writes = CALLERS * CALLS
    return (
        f"{one * 1e3:.2f}",
        f"{read * 1e3:.2f}",
        f"{writes / took:,.0f}",
        f"{writes / frames:.1f}" if frames else "-",
        f"{meanwhile * 1e3:.1f}",
        f"{advanced:.2f}",
        f"{size:,.0f}" if store else "-",
    )


async def _crowd(admin: UESClient) -> tuple[float, float]:
    """The total duration of all callers' writes, and the median duration of a concurrent read (seconds)."""
    url, key = str(admin._http.base_url), admin._http.headers["x-api-key"]
    reads: list[float] = []
    async with httpx.AsyncClient(base_url=url, headers={"x-api-key": key}, timeout=60) as http:

        async def write() -> None:
            for _ in range(CALLS):
                (await http.post("/email/receive", json=MAIL)).raise_for_status()

        async def read() -> None:
            while True:
                began = time.perf_counter()
                await http.get("/simulator/time")
                reads.append(time.perf_counter() - began)

        reading, began = asyncio.create_task(read()), time.perf_counter()
        await asyncio.gather(*(write() for _ in range(CALLERS)))
        took = time.perf_counter() - began
        reading.cancel()
    return took, median(reads)


def _advance(admin: UESClient) -> float:
    now = admin.time.get_state().current_time
    data = {"operation": "receive", **MAIL}
    for batch in range(EVENTS // 1_000):
        due = (now + timedelta(seconds=batch * 1_000 + number + 1) for number in range(1_000))
        admin.events.create_batch(events=[{"scheduled_time": at, "modality": "email", "data": data} for at in due])
    return _seconds(lambda: admin.time.advance(seconds=EVENTS + 1))


def _restarts() -> ResultTable:
    return ResultTable(
        "Restarting from a snapshot and a journal",
        "Reading both back, in process. A process writes a snapshot whenever the journal has 16 MiB or goes back 30 s.",
        ("history", "snapshot, MB", "journal, MB", "s"),
        [_restarted("10,000 mails, one by one", _one_by_one), _restarted("10,000 mails, one advance", _advance)],
    )


def _restarted(name: str, work: Callable[[UESClient], object]) -> tuple[str, str, str, str]:
    with _files(0.0) as (path, store), served(new_simulation(0, START), store) as (admin, _):
        work(admin)
        with tempfile.TemporaryDirectory() as folder:
            for file in path.parent.iterdir():
                (Path(folder) / file.name).write_bytes(file.read_bytes())
            again = Store(Path(folder) / path.name)
            took = _seconds(lambda: again.recover(0))
            snapshot = (Path(folder) / path.name).stat().st_size
            journal = sum(segment.path.stat().st_size for segment in segments_of(Path(folder) / path.name))
            again.close()
    return name, f"{snapshot / 1e6:.1f}", f"{journal / 1e6:.1f}", f"{took:.2f}"


def _one_by_one(admin: UESClient) -> None:
    for _ in range(10_000):
        admin.email.receive(**MAIL)


@contextmanager
def _files(slow_s: float | None) -> Iterator[tuple[Path, Store | None]]:
    fsync = os.fsync

    def slowly(file: int) -> None:
        if slow_s:
            time.sleep(slow_s)
        fsync(file)

    with tempfile.TemporaryDirectory() as folder, mock.patch("os.fsync", slowly):
        path = Path(folder) / "snapshot.json"
        store = None if slow_s is None else Store(path)
        yield path, store
        if store is not None:
            store.close()


def _fsync_ms() -> float:
    with tempfile.TemporaryFile() as file:

        def append() -> None:
            file.write(b"x" * 1_000)
            file.flush()
            os.fsync(file.fileno())

        return median(_seconds(append) for _ in range(REPEATS)) * 1e3


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began

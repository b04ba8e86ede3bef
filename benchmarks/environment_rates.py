"""The environment: calls a second over HTTP to a process of its own, also beside those of another version.

`CONCORD_BENCH_BASELINE` is the folder of a checkout of another version. Rounds of both versions alternate.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Final

import httpx

from benchmarks.processes import wait_for
from benchmarks.tables import ResultTable
from tests.ports import free_port

MAILS: Final = 10_000
ROUNDS: Final = 5
KEY: Final = "0123456789abcdef" * 4
HEADERS: Final = {"x-api-key": KEY, "content-type": "application/json"}
ROOT: Final = Path(__file__).parents[1]

MAIL: Final = {
    "from_address": "a@b.example",
    "to_addresses": ["user@example.com"],
    "subject": "Hello",
    "body_text": "Hi",
}
CALLS: Final[Sequence[tuple[str, str, Mapping[str, object], int]]] = (
    ("a mail received", "/email/receive", MAIL, 1_000),
    ("a query by subject, 33 matches", "/email/query", {"subject_contains": "Subject 123"}, 100),
    ("a query by subject, no match", "/email/query", {"subject_contains": "nothing like it"}, 100),
    ("a query by subject, 50 of all", "/email/query", {"subject_contains": "Subject", "limit": 50}, 50),
)
"""The measured calls: a name, the path, the body, and the number of calls in a round."""


def rates_table() -> ResultTable:
    """Calls a second, the best of all rounds, and the ratio to the baseline if there is one."""
    baseline = os.environ.get("CONCORD_BENCH_BASELINE")
    roots = [ROOT] if baseline is None else [Path(baseline).resolve(), ROOT]
    with ExitStack() as stack:
        ports = [stack.enter_context(_environment(root)) for root in roots]
        rows = [(name, *_cells(ports, path, body, count)) for name, path, body, count in CALLS]
    columns = ("call", "calls/s") if baseline is None else ("call", "baseline, calls/s", "calls/s", "ratio")
    return ResultTable(
        "Calls a second",
        f"One caller over the loopback who waits for each response, a process for the environment, {MAILS:,} mails at "
        f"the start; the best of {ROUNDS} rounds.",
        columns,
        rows,
    )


def _cells(ports: Sequence[int], path: str, body: Mapping[str, object], count: int) -> list[str]:
    rounds = [[_rate(port, path, body, count) for port in ports] for _ in range(ROUNDS)]
    best = [max(rates) for rates in zip(*rounds, strict=True)]
    return [*(f"{rate:,.0f}" for rate in best), *(f"{best[-1] / rate:.1f}" for rate in best[:-1])]


def _rate(port: int, path: str, body: Mapping[str, object], count: int) -> float:
    # The client of the standard library takes a fraction of the time of httpx.
    connection = HTTPConnection("127.0.0.1", port)
    content = json.dumps(body)
    begun = perf_counter()
    for _ in range(count):
        connection.request("POST", path, content, HEADERS)
        connection.getresponse().read()
    took = perf_counter() - begun
    connection.close()
    return count / took


@contextmanager
def _environment(root: Path) -> Iterator[int]:
    """A process that serves the environment of a checkout, with mails. Yields its port."""
    port = free_port()
    members = (root, root / "shared", root / "services" / "environment")
    settings = {"UES_ADMIN_KEY": KEY, "CONCORD_LOG_LEVEL": "WARNING", "PYTHONPATH": os.pathsep.join(map(str, members))}
    command = [sys.executable, "-m", "concord_environment", "--port", str(port)]
    with ExitStack() as stack:
        variables = {**os.environ, **settings}
        process = stack.enter_context(subprocess.Popen(command, cwd=root, env=variables))  # noqa: S603 - our own service
        stack.callback(process.terminate)
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: httpx.get(f"{url}/health").is_success)
        _fill(url)
        yield port


def _fill(url: str) -> None:
    with httpx.Client(base_url=url, headers=HEADERS, timeout=60) as client:
        client.post("/simulation/start", json={}).raise_for_status()
        now = client.get("/simulator/time").json()["current_time"]
        mails = _mails(now)
        while batch := list(islice(mails, 1_000)):
            client.post("/events/batch", json={"events": batch}).raise_for_status()
        client.post("/simulator/time/advance", json={"seconds": 86_400}).raise_for_status()


def _mails(now: str) -> Iterator[dict[str, object]]:
    day = now[:10]
    for number in range(MAILS):
        data = {**MAIL, "operation": "receive", "subject": f"Subject {number // 3}"}
        at = f"{day}T{12 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        yield {"scheduled_time": at, "modality": "email", "data": data}

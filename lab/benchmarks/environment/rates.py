"""The environment: calls a second over HTTP to a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from itertools import islice
from time import perf_counter
from typing import Final

import httpx

from lab.benchmarks.processes import wait_for
from lab.benchmarks.tables import ResultTable
from tests.kit.ports import free_port

MAILS: Final = 10_000
STATE_MAILS: Final = 1_500
ROUNDS: Final = 5
STATE_ROUNDS: Final = 20
KEY: Final = "0123456789abcdef" * 4
SETTINGS: Final = {"UES_ADMIN_KEY": KEY, "CONCORD_LOG_LEVEL": "WARNING"}
HEADERS: Final = {"x-api-key": KEY, "content-type": "application/json"}

MAIL: Final = {
    "from_address": "a@b.example",
    "to_addresses": ["user@example.com"],
    "subject": "Hello",
    "body_text": "Hi",
}
LONG_MAIL: Final = {**MAIL, "body_text": "A few words of text, as mails have them. " * 10}

Call = tuple[str, Mapping[str, object] | None]
"""A path, and the body of a POST, or None for a GET."""

CALLS: Final[Sequence[tuple[str, Sequence[Call], int]]] = (
    ("a mail received", [("/email/receive", MAIL)], 1_000),
    ("a query by subject, 33 matches", [("/email/query", {"subject_contains": "Subject 123"})], 100),
    ("a query by subject, no match", [("/email/query", {"subject_contains": "nothing like it"})], 100),
    ("a query by subject, 50 of all", [("/email/query", {"subject_contains": "Subject", "limit": 50})], 50),
)
"""The measured calls: a name, the calls one after another, and how often they are made in a round."""

MIXED: Final[Sequence[Call]] = (
    ("/email/receive", LONG_MAIL),
    ("/simulator/time/advance", {"seconds": 1}),
    ("/email/query", {"is_read": False, "limit": 50}),
    ("/email/state", None),
)
STATES: Final[Sequence[tuple[str, Sequence[Call], int]]] = (
    ("the whole mailbox", [("/email/state", None)], 5),
    ("the whole environment", [("/environment/state", None)], 5),
    ("all unread mails", [("/email/query", {"is_read": False})], 5),
    ("a mail received, time advanced, 50 unread mails, the whole mailbox", MIXED, 5),
)


def rates_tables() -> list[ResultTable]:
    """Calls a second, the best of all rounds."""
    many = _table(CALLS, MAILS, MAIL, ROUNDS)
    states = _table(STATES, STATE_MAILS, LONG_MAIL, STATE_ROUNDS)
    how = "One caller over the loopback who waits for each response, a process for the environment"
    return [
        ResultTable("Calls a second", f"{how}, {MAILS:,} mails at the start; the best of {ROUNDS} rounds.", *many),
        ResultTable(
            "Whole states",
            f"{how}, {STATE_MAILS:,} mails of 400 characters; the best of {STATE_ROUNDS} rounds.",
            *states,
        ),
    ]


def _table(
    measured: Sequence[tuple[str, Sequence[Call], int]], mails: int, mail: Mapping[str, object], rounds: int
) -> tuple[Sequence[str], list[Sequence[str]]]:
    """The columns and the rows of a table."""
    with _environment(mails, mail) as port:
        rows: list[Sequence[str]] = [
            (name, f"{1 / min(seconds_a_call(port, calls, count) for _ in range(rounds)):,.0f}")
            for name, calls, count in measured
        ]
    return ("call", "calls/s"), rows


def seconds_a_call(port: int, calls: Sequence[Call], count: int) -> float:
    """The mean time of these calls, made one after the other so often, of all of them together."""
    # The client of the standard library takes a fraction of the time of httpx.
    connection = HTTPConnection("127.0.0.1", port)
    requests = [("GET", path, None) if body is None else ("POST", path, json.dumps(body)) for path, body in calls]
    begun = perf_counter()
    for _ in range(count):
        for method, path, content in requests:
            connection.request(method, path, content, HEADERS)
            connection.getresponse().read()
    took = perf_counter() - begun
    connection.close()
    return took / count


@contextmanager
def _environment(mails: int, mail: Mapping[str, object]) -> Iterator[int]:
    """A process that serves an environment with mails. Yields its port."""
    port = free_port()
    command = [sys.executable, "-m", "concord_environment", "--port", str(port)]
    with ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen(command, env={**os.environ, **SETTINGS}))
        stack.callback(process.terminate)
        fill(port, mails, mail)
        yield port


def fill(port: int, number_of_mails: int, mail: Mapping[str, object]) -> None:
    """Puts mails into an environment, once it answers."""
    url = f"http://127.0.0.1:{port}"
    wait_for(lambda: httpx.get(f"{url}/health").is_success)
    with httpx.Client(base_url=url, headers=HEADERS, timeout=60) as client:
        client.post("/simulation/start", json={}).raise_for_status()
        now = client.get("/simulator/time").json()["current_time"]
        mails = _mails(now, number_of_mails, mail)
        while batch := list(islice(mails, 1_000)):
            client.post("/events/batch", json={"events": batch}).raise_for_status()
        client.post("/simulator/time/advance", json={"seconds": 86_400}).raise_for_status()


def _mails(now: str, count: int, mail: Mapping[str, object]) -> Iterator[dict[str, object]]:
    day = now[:10]
    for number in range(count):
        data = {**mail, "operation": "receive", "subject": f"Subject {number // 3}"}
        at = f"{day}T{12 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        yield {"scheduled_time": at, "modality": "email", "data": data}

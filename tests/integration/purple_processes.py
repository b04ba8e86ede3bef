"""Participants in processes of their own, and an HTTP server in the collector's place that records what it receives."""

import gzip
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

from concord.agent.peers import PeerList
from concord.trace.report import StepBatch
from concord.wire.roster import RosterEntry
from tests.forked import ForkedProcess
from tests.ports import free_port

START_S = 30
STOP_S = 10


def free_urls(names: Sequence[str]) -> dict[str, str]:
    """A base URL for each name, with a port on which nothing listens."""
    ports: set[int] = set()
    while len(ports) < len(names):
        ports.add(free_port())
    return {name: f"http://127.0.0.1:{port}/" for name, port in zip(names, ports, strict=True)}


@contextmanager
def running_agents(agents: Mapping[str, Sequence[str]], urls: Mapping[str, str], **variables: str) -> Iterator[None]:
    """Runs an agent for each id with its arguments; all of `urls` are peers unless `variables` say otherwise."""
    peers = {"PURPLE_PEERS": ",".join(f"{name}={url}" for name, url in urls.items())}
    environment = plain_environment() | peers | variables
    with ExitStack() as started:
        for name, arguments in agents.items():
            started.callback(_end, start(["--agent-id", name, "--port", port_of(urls[name]), *arguments], environment))
        for name in agents:
            await_card(urls[name])
        yield


def start(arguments: Sequence[str], environment: Mapping[str, str]) -> ForkedProcess:
    """Starts an agent, without waiting for it."""
    return ForkedProcess("concord_purple", *arguments, env=environment, stderr=Path(os.devnull))


def _end(process: ForkedProcess) -> None:
    process.terminate()
    process.wait(STOP_S)


def plain_environment() -> dict[str, str]:
    """The environment without settings that a participant could read."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PURPLE_", "AGENTBEATS_"))}


def port_of(url: str) -> str:
    """The port in a base URL."""
    return url.rstrip("/").rpartition(":")[2]


def await_card(url: str) -> None:
    """Waits until the agent at this base URL shows its card."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            httpx.get(f"{url}.well-known/agent-card.json").raise_for_status()
            return
        except httpx.TransportError:
            assert time.monotonic() < deadline, f"no card at {url}"
            time.sleep(0.05)


@dataclass
class Collector:
    """The requests that a collector got, and the peers that it answers with."""

    url: str = ""
    batches: list[StepBatch] = field(default_factory=list)
    registered: list[RosterEntry] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    """The authorization header of each registration."""
    peers: list[RosterEntry] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def steps_of(self, reporter: str) -> set[str]:
        """The ids of the steps that an agent reported."""
        return {step.step_id for batch in self.batches if batch.reporter == reporter for step in batch.steps}

    def wait_for_steps(self, n: int) -> None:
        """Waits until `n` steps have been reported."""
        with self.changed:
            assert self.changed.wait_for(lambda: sum(len(batch.steps) for batch in self.batches) >= n, START_S)

    def wait_for_registration(self) -> RosterEntry:
        """Waits for a registration and returns the first."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.registered, START_S)
        return self.registered[0]


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a free port."""
    collector = Collector()

    class Routes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            with collector.changed:
                if self.path == "/traces":
                    collector.batches.append(StepBatch.model_validate_json(body))
                elif self.path == "/register":
                    collector.authorizations.append(self.headers.get("authorization"))
                    collector.registered.append(RosterEntry.model_validate_json(body))
                collector.changed.notify_all()
            self._answer(202, b"{}")

        def do_GET(self) -> None:
            self._answer(200, PeerList(peers=collector.peers).model_dump_json().encode())

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Logs nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Routes) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()

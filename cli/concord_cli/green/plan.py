"""The programs of the green agent. Pure."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from concord.assessment.jobs import Queue
from concord.loopback import LOOPBACK
from concord.trust.declared_hosts import is_every_interface
from concord_cli.stack.probes import HttpProbe
from concord_cli.stack.supervisor import Program


@dataclass(frozen=True, slots=True)
class Address:
    """Where the green agent listens, and the URL at which others reach it; None if that is not known."""

    host: str
    port: int
    card_url: str | None

    @property
    def local_url(self) -> str:
        """The base URL for a caller on this machine, without a trailing slash."""
        host = LOOPBACK if is_every_interface(self.host) else self.host
        return f"http://{host}:{self.port}"


def green_programs(address: Address, redis_url: str, metrics_ports: Sequence[int] = ()) -> tuple[Program, ...]:
    """The programs besides Redis. They start at once, because an assessment waits only a few seconds for workers.

    `metrics_ports`: for the worker of each queue, the port of the loopback interface on which it serves its metrics.
    """
    env = {"REDIS_URL": redis_url}
    # The server is ready when a worker of each queue answers.
    ports = dict(zip(Queue, metrics_ports, strict=False))
    metrics = [("--metrics-of", f"evaluator-{queue}", f"http://{LOOPBACK}:{port}") for queue, port in ports.items()]
    command = (*_server(address), *(word for words in metrics for word in words))
    server = Program("server", command, env, HttpProbe(f"{address.local_url}/readyz"))
    workers = [Program(f"evaluator-{queue}", _worker(queue, ports.get(queue)), env) for queue in Queue]
    return (server, *workers)


def _worker(queue: Queue, metrics_port: int | None) -> tuple[str, ...]:
    metrics = () if metrics_port is None else ("--port", str(metrics_port))
    return (sys.executable, "-m", "concord_evaluator", "--queue", queue.value, *metrics)


def _server(address: Address) -> tuple[str, ...]:
    listening = ("--host", address.host, "--port", str(address.port))
    card = ("--card-url", address.card_url) if address.card_url is not None else ()
    return (sys.executable, "-m", "concord_cli.green", *listening, *card)

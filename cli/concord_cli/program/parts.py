"""The parts of the program: the servers at its one or two ports, and a worker for each queue."""

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from concord.assessment.jobs import Queue
from concord.processes import ProcessPool
from concord.service.program import Parts
from concord.service.serve import listen, serve_until
from concord.trust.urls import is_every_interface
from concord_cli.program.one_port import PortSettings, create_app
from concord_collector.app import create_app as create_collector
from concord_collector.settings import CollectorSettings
from concord_evaluator.settings import EvaluatorSettings
from concord_evaluator.work import WorkerInstruments, process_pool, work
from concord_gateway.app import create_app as create_gateway
from concord_gateway.settings import GatewaySettings


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the program listens. `collector_port`: None if the gateway's port serves both. `card_url`: the gateway's
    URL for others; None if it is not known."""

    host: str
    port: int
    collector_port: int | None
    card_url: str | None

    @property
    def bound_to(self) -> str:
        """Host and port of the gateway."""
        return f"{self.host}:{self.port}"

    @property
    def gateway_url(self) -> str | None:
        """The gateway's URL for others: by default its host and port, unless that is every interface."""
        if self.card_url is not None or is_every_interface(self.host):
            return self.card_url
        return f"http://{self.bound_to}/"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of all parts. `grace_s`: how long requests and jobs may run once the program is to stop."""

    gateway: GatewaySettings
    collector: CollectorSettings
    evaluator: EvaluatorSettings
    port: PortSettings
    grace_s: int

    @classmethod
    def of_environment(cls, grace_s: int) -> Self:
        """Reads the environment. Raises ValidationError."""
        evaluator = EvaluatorSettings(completion_wait_s=grace_s)
        return cls(GatewaySettings(), CollectorSettings(), evaluator, PortSettings(), grace_s)


def listening(addresses: Addresses) -> list[socket.socket]:
    """A socket for each port, the gateway's first. Raises OSError."""
    ports = [addresses.port] if addresses.collector_port is None else [addresses.port, addresses.collector_port]
    return [listen(addresses.host, port) for port in ports]


async def run(
    settings: Settings, addresses: Addresses, listeners: Sequence[socket.socket], stop: asyncio.Event
) -> None:
    """Runs all parts until `stop` is set. Raises the error of a part that keeps failing."""
    parts, instruments = Parts(), WorkerInstruments(*Queue)
    async with process_pool(settings.evaluator, instruments) as pool:
        if addresses.collector_port is None:

            async def serve_both(stop: asyncio.Event) -> None:
                app = create_app(
                    *(settings.gateway, settings.collector, addresses.card_url, addresses.bound_to, pool),
                    workers=instruments.registry,
                    up=parts.up,
                    exposed=settings.port.expose,
                )
                await serve_until(app, listeners[0], stop, grace_s=settings.grace_s)

            parts.add("gateway", serve_both)
        else:
            _add_servers(parts, settings, addresses, listeners, pool)
        for queue in Queue:
            parts.add(f"evaluator-{queue}", partial(work, queue, settings.evaluator, pool, instruments))
        await parts.run(stop)


def _add_servers(
    parts: Parts, settings: Settings, addresses: Addresses, listeners: Sequence[socket.socket], pool: ProcessPool
) -> None:
    """Gateway and collector, each at a port of its own."""

    async def serve_gateway(stop: asyncio.Event) -> None:
        app = create_gateway(settings.gateway, addresses.gateway_url, addresses.bound_to, pool)
        await serve_until(app, listeners[0], stop, grace_s=settings.grace_s)

    async def serve_collector(stop: asyncio.Event) -> None:
        await serve_until(create_collector(settings.collector), listeners[1], stop, grace_s=settings.grace_s)

    parts.add("collector", serve_collector)
    parts.add("gateway", serve_gateway)

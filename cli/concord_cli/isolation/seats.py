"""The containers of isolated seats: for each one of the agent, and one of the relay whose network it shares. Pure."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from concord.assessment.results import SeatContainers
from concord.loopback import LOOPBACK
from concord_cli.errors import UsageError
from concord_cli.isolation import relay
from concord_cli.isolation.model_endpoints import ModelEndpoint
from concord_cli.stack.containers import docker_run

RELAY_IMAGE: Final = "python:3.13-slim"

MEMORY: Final = "2g"
PROCESSES: Final = 512
PROCESSORS: Final = 1
TEMPORARY: Final = "256m"
"""Bounds of a seat's container: its memory, without swap; threads of all its processes; processors; its `/tmp`."""

_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
"""Docker sets these in containers if its own configuration names proxies, which a seat cannot reach."""

_LONGEST: Final = "100/endpoint-16.sock"
MAX_SOCKET_PATH: Final = 107
"""Bytes in the path of a Unix socket on Linux (unix(7))."""

_HARDENED: Final = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--ipc", "private")
_OF_RELAY: Final = ("--memory", "256m", "--memory-swap", "256m", "--pids-limit", "32", "--user", "65534:65534")


@dataclass(frozen=True, slots=True)
class IsolatedSeat:
    """A seat: its role, its port here and in its own network, its relay's sockets, and the relay's container."""

    role: str
    port: int
    folder: Path
    relay: str

    @property
    def container(self) -> str:
        """The name of its own container."""
        return f"{self.relay}-seat"


@dataclass(frozen=True, slots=True)
class Exit:
    """A way out of every seat's network: the address and port there, and the service's URL or the endpoint behind."""

    name: str
    address: str
    port: int
    to: str | ModelEndpoint


@dataclass(frozen=True, slots=True)
class IsolatedSeats:
    """All seats of a stack, the ways out of each, and what their containers have in common."""

    seats: tuple[IsolatedSeat, ...]
    exits: tuple[Exit, ...]
    containers: SeatContainers


@dataclass(frozen=True, slots=True)
class Isolation:
    """What is known of isolated seats before their ports are.

    `folder` is where each relay's sockets are made, in a folder of their own.
    """

    containers: SeatContainers
    folder: Path

    def seats(self, ports: Mapping[str, int], services: Mapping[str, str], run_id: str) -> IsolatedSeats:
        """The seats with these ports, by role, which reach these services, URLs by name.

        Raises UsageError if the sockets would have too long names.
        """
        if len(os.fsencode(self.folder / _LONGEST)) > MAX_SOCKET_PATH:
            raise UsageError(f"isolation needs a TMPDIR with a shorter name than that of {self.folder}")
        seats = [
            IsolatedSeat(role, port, self.folder / str(number), f"concord-{run_id}-{number}")
            for number, (role, port) in enumerate(ports.items(), start=1)
        ]
        ways = [Exit(name, LOOPBACK, urlsplit(url).port or 0, url) for name, url in services.items()]
        endpoints = [ModelEndpoint.parse(each) for each in self.containers.model_endpoints]
        return IsolatedSeats(tuple(seats), (*ways, *_to_endpoints(endpoints)), self.containers)


def _to_endpoints(endpoints: Sequence[ModelEndpoint]) -> list[Exit]:
    """A host name stands for an address of its own; a server on this machine has the same address as here."""
    hosts = list(dict.fromkeys(each.host for each in endpoints if not each.on_this_machine))
    return [
        Exit(
            f"endpoint-{number}",
            LOOPBACK if each.on_this_machine else f"127.0.1.{hosts.index(each.host) + 1}",
            each.port,
            each,
        )
        for number, each in enumerate(endpoints, start=1)
    ]


def relay_command(seat: IsolatedSeat, exits: Sequence[Exit], run_id: str) -> tuple[str, ...]:
    """The command line that runs a seat's relay, in a network with nothing but a loopback interface.

    It removes the seat's container first: one that shared the network of a relay that died would never be reached.
    """
    named = {each.to.host: each.address for each in exits if isinstance(each.to, ModelEndpoint)}
    options = (
        *("--name", seat.relay, "--network", "none", "--sysctl", "net.ipv4.ip_unprivileged_port_start=0"),
        *(f"--add-host={host}:{address}" for host, address in named.items() if address != LOOPBACK),
        *(*_HARDENED, "--security-opt", "label=disable", *_OF_RELAY),
        *("--mount", f"type=bind,source={seat.folder},target={relay.FOLDER}"),
    )
    text = Path(relay.__file__).read_text(encoding="utf-8")
    places = [f"{each.address}:{each.port}={each.name}" for each in exits]
    run = (*docker_run(run_id, options), RELAY_IMAGE, "python", "-I", "-c", text, str(seat.port), *places)
    return ("sh", "-c", 'docker rm --force --volumes "$0" >/dev/null 2>&1; exec "$@"', seat.container, *run)


def seat_options(seat: IsolatedSeat) -> tuple[str, ...]:
    """Docker's options for a seat's own container: the relay's network, no volume, and bounds."""
    return (
        *("--name", seat.container, "--network", f"container:{seat.relay}", *_HARDENED),
        *("--tmpfs", f"/tmp:mode=1777,size={TEMPORARY}"),  # nosec B108  # noqa: S108 - in the container
        *("--memory", MEMORY, "--memory-swap", MEMORY, "--pids-limit", str(PROCESSES), "--cpus", str(PROCESSORS)),
        *("--log-driver", "none"),
        *(f"--env={name}=" for name in _PROXIES),
    )

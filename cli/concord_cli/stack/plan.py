"""Plans the programs of a scenario: arguments, environment and port of each. Pure."""

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from concord.assessment.jobs import Queue
from concord.assessment.plan import StartedContainers
from concord.guarded_process import CHILD_S
from concord.loopback import LOOPBACK
from concord.trust.credentials import Credentials, origin_of
from concord.trust.urls import is_every_interface, is_loopback
from concord_cli.errors import UsageError
from concord_cli.isolation.relay import ENTRANCE
from concord_cli.isolation.seats import IsolatedSeat, IsolatedSeats, Isolation, relay_command, seat_options
from concord_cli.scenario.scenario_file import Participant, ScenarioFile
from concord_cli.stack.containers import HOST_NETWORK, docker_run, variables_of
from concord_cli.stack.probes import HttpProbe, UnixSocketProbe
from concord_cli.stack.supervisor import Program

ONE_PROGRAM: Final = "concord"
"""The name of the program that gateway, collector and workers are by default."""

DRAIN_S: Final = int(CHILD_S) - 1
"""How long its requests and jobs may run on once it is to stop: it then still has to release what it holds."""

TASK_SECRET: Final = "CONCORD_TASK_SECRET"  # noqa: S105 - a name

FOR_SERVICES: Final = frozenset({TASK_SECRET, "CONCORD_PUBLISHED", "CONCORD_PARTICIPANT_CREDENTIALS"})
"""Variables that lead to the answers of tasks: the secret, and the files of published tasks. No agent gets them."""
"""The variable with the secret of tasks, from which all answers follow."""

CREDENTIALS: Final = "CONCORD_PARTICIPANT_CREDENTIALS"
"""The variable with what the gateway shows participants, by origin."""

_CARD: Final = "/.well-known/agent-card.json"


@dataclass(frozen=True, slots=True)
class Listening:
    """Where gateway and collector listen. `card_url` is the gateway's URL for others; None: host and port.

    `collector`: None if the gateway's port serves both; the card then has the address by which a client requests it.
    """

    host: str
    gateway: int
    collector: int | None
    card_url: str | None = None

    @property
    def gateway_url(self) -> str:
        """The gateway's base URL for callers on this machine, and for others if `card_url` names it."""
        local = LOOPBACK if is_every_interface(self.host) else self.host
        return self.card_url or _url(self.gateway, local)


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the programs listen; Redis and the `agents`, by role, on the loopback interface."""

    redis: int
    services: Listening
    agents: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StackPlan:
    """All programs but Redis, in the order in which they start, and their URLs."""

    groups: tuple[tuple[Program, ...], ...]
    relays: tuple[Program, ...]
    """Those of isolated seats, which are to be ready before the first group starts."""
    isolated: IsolatedSeats | None
    gateway_url: str
    collector_url: str
    agent_urls: Mapping[str, str]
    """Base URLs by role, in the scenario's order: of the agents of the stack, and of those that run elsewhere."""


def plan_stack(
    scenario: ScenarioFile,
    ports: Ports,
    redis_url: str,
    output: Path,
    allowed_hosts: str | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    run_id: str = "",
    *,
    separate: bool = False,
    isolation: Isolation | None = None,
    task_secret: str | None = None,
) -> StackPlan:
    """Plans the services and the scenario's team; the gateway writes its results under `output`.

    `allowed_hosts` is the `CONCORD_ALLOWED_HOSTS` of this process, `environment` all its variables. `run_id` marks the
    stack's containers. With `separate`, each service is a program of its own. With `isolation`, all agents are seats in
    containers of their own. `task_secret` replaces the services' own; agents see neither. Raises UsageError for a
    variable that an agent needs and that is not set.
    """
    services = ports.services
    gateway_url = collector_url = services.gateway_url
    env = {"REDIS_URL": redis_url}
    if services.collector is not None:
        collector_url = _url(services.collector, urlsplit(gateway_url).hostname or services.host)
        env |= {"CONCORD_COLLECTOR_URL": collector_url, "CONCORD_OUTPUT_DIR": str(output)}
    env |= {
        **_allowed_team(services.host, ports.agents.values(), allowed_hosts),
        **({} if task_secret is None else {TASK_SECRET: task_secret}),
    }
    env |= _credentials(scenario, ports.agents, environment)
    started = {role: _url(port) for role, port in ports.agents.items()}
    isolated = None
    if isolation is not None:
        isolated = isolation.seats(ports.agents, {"gateway": gateway_url, "collector": collector_url}, run_id)
        known = StartedContainers(urls=frozenset(started.values()), containers=isolated.containers)
        env["CONCORD_STARTED_CONTAINERS"] = known.model_dump_json()
    team = _team(scenario, ports.agents, {**started, **scenario.endpoints}, environment, run_id, isolated)
    return StackPlan(
        groups=_separate(services, services.collector, env, team)
        if separate and services.collector is not None
        else ((*team, _program(services, env)),),
        relays=tuple(_relay(seat, isolated, run_id) for seat in isolated.seats) if isolated is not None else (),
        isolated=isolated,
        gateway_url=gateway_url,
        collector_url=collector_url,
        agent_urls={
            each.role: scenario.endpoints.get(each.role) or started[each.role] for each in scenario.participants
        },
    )


def _credentials(scenario: ScenarioFile, ports: Mapping[str, int], environment: Mapping[str, str]) -> dict[str, str]:
    """The gateway's setting for the credentials of a scenario's agents, beside those of the environment.

    Raises UsageError.
    """
    found = dict[str, str]()
    for each in scenario.participants:
        if each.credential is not None:
            place = str(each.endpoint) if each.endpoint is not None else _url(ports[each.role])
            value = variables_of(each.role, {"credential": each.credential}, environment)["credential"]
            origin = origin_of(place)
            found[f"{origin.scheme}://{origin.host}:{origin.port}"] = value
    if not found:
        return {}
    try:
        known = json.loads(environment.get(CREDENTIALS) or "{}")
        text = json.dumps({**known, **found})
        Credentials.parse(text)
    except (TypeError, ValueError) as error:
        raise UsageError(f"credential: {error}") from error
    return {CREDENTIALS: text}


def _team(
    scenario: ScenarioFile,
    ports: Mapping[str, int],
    addresses: Mapping[str, str],
    environment: Mapping[str, str],
    run_id: str,
    isolated: IsolatedSeats | None,
) -> list[Program]:
    """The programs of the agents with these ports. `addresses`: those of all agents, by role."""
    for_agents = {name: value for name, value in environment.items() if name not in FOR_SERVICES}
    seats = {seat.role: seat for seat in isolated.seats} if isolated is not None else {}
    team = []
    for each in scenario.local:
        port, variables = ports[each.role], variables_of(each.role, each.env, for_agents)
        seat = seats.get(each.role)
        image = isolated.containers.image_id if isolated is not None else each.image or ""
        container = (*docker_run(run_id, HOST_NETWORK if seat is None else seat_options(seat), variables), image)
        command = _command(each, port, scenario.team.wiring, addresses, container)
        probe = HttpProbe(_url(port).rstrip("/") + _CARD)
        team.append(Program(each.role, command, variables, probe, hidden=FOR_SERVICES))
    return team


def _program(services: Listening, env: Mapping[str, str]) -> Program:
    """Gateway, collector and workers as one program, ready when the gateway is, which needs a worker of each queue."""
    card_url = services.card_url if services.collector is None else services.gateway_url
    options = {"--card-url": card_url, "--collector-port": services.collector}
    words = [word for option, value in options.items() if value is not None for word in (option, str(value))]
    grace = ("--grace", str(DRAIN_S))
    return _service(ONE_PROGRAM, "concord_cli.program", services.gateway, *grace, *words, env=env, host=services.host)


def _separate(
    services: Listening, collector_port: int, env: Mapping[str, str], team: Sequence[Program]
) -> tuple[tuple[Program, ...], ...]:
    """Each service as a program of its own. The gateway stops first, with the team."""
    collector = _service("collector", "concord_collector", collector_port, host=services.host, env=env)
    gateway = _service(
        "gateway", "concord_gateway", services.gateway, "--card-url", services.gateway_url, host=services.host, env=env
    )
    # A worker has no HTTP probe: the gateway is not ready before a worker of each queue answers.
    workers = [
        Program(f"evaluator-{queue}", _module("concord_evaluator", "--queue", queue.value), env) for queue in Queue
    ]
    return ((collector, *workers), (*team, gateway))


def _command(
    participant: Participant, port: int, wiring: str, addresses: Mapping[str, str], container: Sequence[str]
) -> tuple[str, ...]:
    """The command line of an agent at a port. `addresses`: those of all agents, by role."""
    role, address = participant.role, ("--host", LOOPBACK, "--port", str(port), "--card-url", _url(port))
    if participant.function is not None:
        options = ("--agent-id", role, "--function", str(participant.function), "--team", wiring)
        return _module("concord_purple", *address, *options)
    if participant.cmd is None:
        return (*container, *address)
    program, *arguments = shlex.split(participant.cmd)
    command = (sys.executable if program == "python" else program, *arguments)
    if participant.adapt:
        named = (reduce(_with_address, addresses.items(), each) for each in command)
        return _module("concord_cli", "adapt", role, *address, "--", *named)
    return (*command, *address)


def _relay(seat: IsolatedSeat, isolated: IsolatedSeats, run_id: str) -> Program:
    command = relay_command(seat, isolated.exits, run_id)
    return Program(f"{seat.role}-relay", command, probe=UnixSocketProbe(seat.folder / ENTRANCE))


def _with_address(argument: str, peer: tuple[str, str]) -> str:
    """An argument with the address of a peer (role and URL) in place of `{ROLE}`."""
    role, url = peer
    return argument.replace(f"{{{role}}}", url)


def _service(
    name: str,
    module: str,
    port: int,
    *arguments: str,
    env: Mapping[str, str],
    host: str = LOOPBACK,
) -> Program:
    command = _module(module, "--host", host, "--port", str(port), *arguments)
    local = LOOPBACK if is_every_interface(host) else host
    return Program(name, command, env, HttpProbe(_url(port, local).rstrip("/") + "/readyz"))


def _allowed_team(host: str, ports: Iterable[int], others: str | None) -> dict[str, str]:
    """Lets a gateway that other machines reach assess the team on this machine's loopback interface."""
    team = [f"{LOOPBACK}:{port}" for port in ports]
    if is_loopback(host) or not team:
        return {}
    return {"CONCORD_ALLOWED_HOSTS": ",".join(filter(None, [others, *team]))}


def _module(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module, *arguments)


def _url(port: int, host: str = LOOPBACK) -> str:
    return f"http://{host}:{port}/"

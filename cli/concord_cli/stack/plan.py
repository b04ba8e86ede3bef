"""Plans the programs of a scenario: arguments, environment and port of each. Pure."""

import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from concord.trust.declared_hosts import is_every_interface, is_loopback
from concord_cli.scenario import Participant, Scenario
from concord_cli.stack.containers import container_command, variables_of
from concord_cli.stack.probes import LOOPBACK, HttpProbe
from concord_cli.stack.supervisor import Program

FAST_WORKERS = 2
LLM_WORKERS = 1

_CARD = "/.well-known/agent-card.json"


@dataclass(frozen=True, slots=True)
class Listening:
    """Where gateway and collector listen. `card_url` is the gateway's URL for others; None: host and port."""

    host: str
    gateway: int
    collector: int
    card_url: str | None = None


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
    images: Mapping[str, str]
    """The images of the programs that are containers, by role."""
    gateway_url: str
    collector_url: str
    agent_urls: Mapping[str, str]
    """Base URLs by role, in the scenario's order: of the agents of the stack, and of those that run elsewhere."""


def plan_stack(
    scenario: Scenario,
    ports: Ports,
    redis_url: str,
    output: Path,
    allowed_hosts: str | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    run_id: str = "",
) -> StackPlan:
    """Plans the services and the scenario's team; the gateway writes its results under `output`.

    `allowed_hosts` is the `CONCORD_ALLOWED_HOSTS` of this process, `environment` all its variables. `run_id` marks the
    stack's containers. Raises UsageError for a variable that an agent needs and that is not set.
    """
    services = ports.services
    gateway_url = services.card_url or _url(services.gateway, services.host)
    collector_url = _url(services.collector, urlsplit(gateway_url).hostname or services.host)
    redis = {"REDIS_URL": redis_url}
    collector = _service("collector", "concord_collector", services.collector, host=services.host, env=redis)
    gateway = _service(
        *("gateway", "concord_gateway", services.gateway, "--card-url", gateway_url),
        host=services.host,
        env=redis
        | {"CONCORD_COLLECTOR_URL": collector_url, "CONCORD_OUTPUT_DIR": str(output)}
        | _allowed_team(services.host, ports.agents.values(), allowed_hosts),
    )
    team = [_agent(each, scenario.team.wiring, ports.agents[each.role], environment, run_id) for each in scenario.local]
    started = {role: _url(port) for role, port in ports.agents.items()}
    return StackPlan(
        groups=((collector, *_workers(redis)), (*team, gateway)),
        images={each.role: each.image for each in scenario.local if _is_container(each) and each.image},
        gateway_url=gateway_url,
        collector_url=collector_url,
        agent_urls={
            each.role: scenario.endpoints.get(each.role) or started[each.role] for each in scenario.participants
        },
    )


def _workers(env: Mapping[str, str]) -> list[Program]:
    queues = [("fast", number) for number in range(1, FAST_WORKERS + 1)]
    queues += [("llm", number) for number in range(1, LLM_WORKERS + 1)]
    # A worker has no HTTP probe: the gateway is not ready before a worker of each queue answers.
    return [
        Program(f"evaluator-{queue}-{number}", _module("concord_evaluator", "--queue", queue), env)
        for queue, number in queues
    ]


def _agent(participant: Participant, wiring: str, port: int, environment: Mapping[str, str], run_id: str) -> Program:
    role, variables = participant.role, variables_of(participant.role, participant.env, environment)
    address = ("--host", LOOPBACK, "--port", str(port), "--card-url", _url(port))
    card = HttpProbe(_url(port).rstrip("/") + _CARD)
    if participant.function is not None:
        options = ("--agent-id", role, "--function", str(participant.function), "--team", wiring)
        return Program(role, _module("concord_purple", *address, *options), variables, card)
    if participant.cmd is not None:
        program, *arguments = shlex.split(participant.cmd)
        return Program(
            role, (sys.executable if program == "python" else program, *arguments, *address), variables, card
        )
    command = container_command(str(participant.image), variables, run_id, *address)
    return Program(role, command, variables, card)


def _is_container(participant: Participant) -> bool:
    return participant.function is None and participant.cmd is None


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

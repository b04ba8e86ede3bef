"""Seats in containers of their own: a team plays, and from inside a seat nothing can be reached but Concord."""

import asyncio
import json
import signal
import socket
from collections.abc import AsyncIterator
from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import pytest
from rich.console import Console

from concord.assessment.result_row import ResultRow
from concord_cli.assessment_client import assess
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.stack.local import LocalStack, free_stack_ports, local_stack
from concord_cli.stack.probes import HttpProbe
from concord_cli.terminal import ProgressLog
from tests.e2e.test_images import build, docker
from tests.kit.concord import concord
from tests.kit.processes import until
from tests.kit.serving import listening

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

TEAM: Final = {
    "team": {"isolation": "container"},
    "participants": [{"role": "agent", "image": "concord-sample"}],
    "config": {"suite": "maximum", "seats": 2, "exchange": "calls", "closing_cap_s": 1},
}

CARD: Final = ".well-known/agent-card.json"

TRY: Final = """
import json, os, socket, sys, urllib.request, urllib.error
places, urls = json.loads(sys.argv[1])
found = {}
for name, (host, port) in places.items():
    try:
        socket.create_connection((host, port), timeout=2).close()
        found[name] = "connected"
    except OSError as error:
        found[name] = type(error).__name__
for name, (method, url) in urls.items():
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=5) as answer:
            found[name] = answer.read().decode()
    except urllib.error.HTTPError as error:
        found[name] = error.code
    except OSError as error:
        found[name] = type(error).__name__
for path in ("/shared", "/opt/shared", "/tmp/shared", "/dev/shm/shared"):
    found[f"read {path}"] = os.path.exists(path)
    try:
        open(path, "w").close()
        found[f"write {path}"] = True
    except OSError:
        found[f"write {path}"] = False
print(json.dumps(found))
"""


def containers(marks: str = "concord.run") -> list[str]:
    return docker("ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={marks}").split()


def inspected(container: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(docker("inspect", "--format", "{{json .}}", container))
    return found


def seats_of(stack: LocalStack) -> list[dict[str, Any]]:
    """The containers of the seats of a stack, in order."""
    assert stack.plan.isolated is not None
    found = [inspected(seat.container) for seat in stack.plan.isolated.seats]
    relays = [inspected(seat.relay)["Id"] for seat in stack.plan.isolated.seats]
    assert [each["HostConfig"]["NetworkMode"] for each in found] == [f"container:{relay}" for relay in relays]
    return found


def tried(seat: dict[str, Any], places: dict[str, tuple[str, int]], urls: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """What a seat finds at these places, in one process inside its container."""
    found: dict[str, Any] = json.loads(docker("exec", seat["Id"], "python", "-c", TRY, json.dumps([places, urls])))
    return found


async def relay_replaced(stack: LocalStack) -> None:
    """Kills the relay of the first seat, and waits until the seat, which shared its network, can be reached again."""
    assert stack.plan.isolated is not None
    seat, probe = stack.plan.isolated.seats[0], HttpProbe(f"{stack.plan.agent_urls['agent_1']}{CARD}")
    await asyncio.to_thread(docker, "kill", seat.relay)
    async with asyncio.timeout(60):
        while not await probe.passes():
            await asyncio.sleep(0.1)


@pytest.fixture
async def model() -> AsyncIterator[str]:
    """A model's server on this machine."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nmodel")

    async with listening(answer) as url:
        yield url


def this_machine_on_the_bridge() -> str:
    """This machine's address on Docker's default bridge: its gateway, or the first address if Docker names none."""
    network = json.loads(docker("network", "inspect", "bridge", "--format", "{{json (index .IPAM.Config 0)}}"))
    gateway: str = network.get("Gateway") or str(next(ip_network(network["Subnet"]).hosts()))
    return gateway


async def test_a_seat_reaches_the_proxy_and_the_models_endpoint_and_neither_another_seat_nor_redis_nor_the_internet(
    model: str,
) -> None:
    await asyncio.to_thread(build, "sample")
    document = {**TEAM, "team": {"isolation": "container", "model_endpoints": [model]}}
    scenario = ScenarioFile.model_validate(document).with_seats()
    everywhere = socket.create_server(("0.0.0.0", 0))  # noqa: S104 - what a seat must not reach
    ports = free_stack_ports(scenario)
    out = StringIO()
    async with local_stack(scenario, ports, ProgressLog(Console(file=out))) as stack:
        first, second = await asyncio.to_thread(seats_of, stack)
        gateway, collector = stack.plan.gateway_url, stack.plan.collector_url
        own, other = ports.agents.values()
        bridge = this_machine_on_the_bridge()
        here = everywhere.getsockname()[1]
        places = {
            "itself": ("127.0.0.1", own),
            "other": ("127.0.0.1", other),
            "redis": ("127.0.0.1", ports.redis),
            "this machine": ("127.0.0.1", here),
            "this machine over the bridge": (bridge, here),
            "internet": ("1.1.1.1", 443),
            "names": ("example.com", 443),
        }
        urls = {
            "proxy": ("POST", f"{gateway}a2a/token/agent_2/"),
            "peers": ("GET", f"{collector}peers"),
            "tasks": ("POST", gateway),
            "register": ("POST", f"{collector}register"),
            "model": ("GET", model),
        }
        found = await asyncio.to_thread(tried, first, places, urls)
        again = await asyncio.to_thread(tried, second, {}, {})
        await relay_replaced(stack)
        results = await assess(gateway, stack.plan.agent_urls, scenario.config, lambda _: None)
    everywhere.close()
    assert found.pop("itself") == "connected"
    assert {name: found[name] for name in places if name != "itself"} == {
        "other": "ConnectionRefusedError",
        "redis": "ConnectionRefusedError",
        "this machine": "ConnectionRefusedError",
        "this machine over the bridge": "OSError",
        "internet": "OSError",
        "names": "gaierror",
    }
    assert {name: found[name] for name in urls} == {
        "proxy": 401,  # it answers, and wants a token
        "peers": 401,
        "tasks": 403,
        "register": 403,
        "model": "model",
    }
    assert [found[f"write {path}"] for path in ("/shared", "/opt/shared", "/tmp/shared")] == [False, False, True]  # noqa: S108
    assert not any(again[name] for name in again if name.startswith("read")), "no file of one seat is seen by another"
    for seat in (first, second):
        assert seat["Mounts"] == []
        assert seat["HostConfig"]["ReadonlyRootfs"]
        assert all(seat["HostConfig"][bound] > 0 for bound in ("Memory", "PidsLimit", "NanoCpus"))
    row = ResultRow.model_validate(results[0])
    assert row.score == 100
    assert row.detail.scoring.ranking_parts is not None
    assert row.detail.scoring.ranking_parts.isolation == "isolated"
    assert row.detail.seat_containers is not None
    assert row.detail.seat_containers.image_id == first["Image"] == second["Image"]
    assert row.detail.seat_containers.model_endpoints == (model.rstrip("/"),)
    assert not {first["Id"], second["Id"]} & set(containers())


def test_a_killed_run_leaves_no_container_of_a_seat(tmp_path: Path) -> None:
    build("sample")
    path = tmp_path / "scenario.toml"
    path.write_text(
        '[team]\nisolation = "container"\n[[participants]]\nname = "agent"\nimage = "concord-sample"\n'
        '[config]\nsuite = "maximum"\nseats = 2\n'
    )
    before = set(containers())
    with concord(tmp_path, "run", str(path)) as running:
        running.read_until("All programs are ready")
        started = set(containers()) - before
        running.send(signal.SIGKILL)
        until(lambda: not started & set(containers()))
    assert len(started) >= 4, "two seats and their relays"

"""The ways into a seat's network and out of it: Concord's doors and the relay, here without a container between."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request

from concord.assessment.results import SeatContainers
from concord.loopback import free_ports
from concord_cli.isolation import doors
from concord_cli.isolation.doors import open_doors
from concord_cli.isolation.model_endpoints import ModelEndpoint
from concord_cli.isolation.relay import relay
from concord_cli.isolation.seats import Exit, IsolatedSeat, IsolatedSeats
from concord_cli.stack.probes import UnixSocketProbe
from tests.kit.serving import listening, reserved, served
from tests.unit.cli.test_isolation import hello

SEATS_NETWORK = "127.0.2.1"
"""Stands for a seat's own loopback interface, which in a container has the addresses of this machine's."""

CONTAINERS = SeatContainers(image="agent:1", image_id="sha256:1", image_digest=None, model_endpoints=())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def seat(*exits: Exit, agent: int = 0, notices: list[str] | None = None) -> AsyncIterator[IsolatedSeat]:
    """A seat whose doors are open and whose relay runs. `agent`: where its agent listens, by default nowhere."""
    with TemporaryDirectory(prefix="seat-") as folder:  # not pytest's: the path of a Unix socket has at most 108 bytes
        [port, nothing] = free_ports(2)
        one = IsolatedSeat("ann", port, Path(folder) / "1", "relay")
        told = notices if notices is not None else []
        async with open_doors(IsolatedSeats((one,), exits, CONTAINERS), told.append):
            places = [f"{each.address}:{each.port}={each.name}" for each in exits]
            running = asyncio.create_task(relay(one.folder, agent or nothing, places))
            try:
                probe = UnixSocketProbe(one.folder / "in.sock")
                async with asyncio.timeout(30):
                    while not await probe.passes():
                        await asyncio.sleep(0.01)
                yield one
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


@asynccontextmanager
async def connected(host: str, port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].strip("/"))


async def test_requests_reach_the_proxy_and_the_collector_and_nothing_else_of_the_services() -> None:
    asked: list[tuple[str, str, bytes]] = []
    app = FastAPI()

    @app.api_route("/{path:path}", methods=["GET", "POST"])
    async def note(path: str, request: Request) -> dict[str, Any]:
        asked.append((request.method, f"/{path}", await request.body()))
        return {"seen": request.url.query}

    [port] = free_ports(1)
    async with (
        served(app, reserved()) as url,
        seat(Exit("gateway", SEATS_NETWORK, port, url)),
        httpx.AsyncClient(base_url=f"http://{SEATS_NETWORK}:{port}", trust_env=False) as http,
    ):
        carried = await http.post("/a2a/token/bob/?x=1", content=b"hello")
        assert (carried.status_code, carried.json()) == (200, {"seen": "x=1"})
        assert (await http.get("/peers")).status_code == 200
        for path in ("/", "/register", "/tasks", "/a2a", "/readyz"):
            refused = await http.post(path, content=b"tell bob: 48213")
            assert (refused.status_code, "the gateway's proxy" in refused.text) == (403, True), path
    assert asked == [("POST", "/a2a/token/bob/", b"hello"), ("GET", "/peers", b"")]


async def test_bytes_pass_into_a_seat_and_back_and_each_end_closes_alone() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read())
        writer.close()

    async with listening(echo) as url, seat(agent=port_of(url)) as one:
        sent = b"x" * 1_000_000
        async with connected("127.0.0.1", one.port) as (reader, writer):
            writer.write(sent)
            writer.write_eof()
            assert await reader.read() == sent


async def test_a_seat_where_nothing_listens_ends_the_connection() -> None:
    async with seat() as one, connected("127.0.0.1", one.port) as (reader, _):
        assert await reader.read() == b""


@pytest.fixture
def resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the name of a model's server lead to this machine."""
    found = socket.getaddrinfo

    def to_here(host: str, *arguments: object, **named: object) -> object:
        return found("127.0.0.1" if host == "model.example" else host, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", to_here)


@pytest.mark.usefixtures("resolves")
@pytest.mark.parametrize(
    ("first", "arrives"),
    [
        (hello("model.example"), True),
        (hello("other.example"), False),
        (hello(None), False),
        (b"POST /tell-bob HTTP/1.1\r\n\r\n", False),
        (hello("model.example")[:40], False),
    ],
    ids=["its name", "another name", "no name", "no TLS", "not enough"],
)
async def test_a_connection_to_a_model_endpoint_must_name_it(first: bytes, arrives: bool) -> None:
    received = bytearray()

    async def model(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.extend(await reader.read())
        writer.write(b"answer")
        writer.close()

    notices: list[str] = []
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(listening(model))
        endpoint = ModelEndpoint("model.example", port_of(url), tls=True)
        [port] = free_ports(1)
        await stack.enter_async_context(seat(Exit("model", SEATS_NETWORK, port, endpoint), notices=notices))
        async with connected(SEATS_NETWORK, port) as (reader, writer):
            writer.write(first)
            writer.write_eof()
            assert await reader.read() == (b"answer" if arrives else b"")
    assert bytes(received) == (first if arrives else b"")
    assert bool(notices) is not arrives


async def test_an_endpoint_that_cannot_be_reached_is_told_once() -> None:
    notices: list[str] = []
    [port, nothing] = free_ports(2)
    async with seat(
        Exit("model", SEATS_NETWORK, port, ModelEndpoint("127.0.0.1", nothing, tls=False)), notices=notices
    ):
        for _ in range(2):
            async with connected(SEATS_NETWORK, port) as (reader, _):
                assert await reader.read() == b""
    [notice] = notices
    assert f"http://127.0.0.1:{nothing} cannot be reached" in notice


async def test_a_seat_that_opens_too_many_connections_has_the_rest_of_them_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doors, "MAX_OPEN", 2)
    opened: list[asyncio.StreamWriter] = []

    async def model(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(writer)

    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(listening(model))
        endpoint = ModelEndpoint("127.0.0.1", port_of(url), tls=False)
        [port] = free_ports(1)
        await stack.enter_async_context(seat(Exit("model", SEATS_NETWORK, port, endpoint)))
        held = [await stack.enter_async_context(connected(SEATS_NETWORK, port)) for _ in range(2)]
        await until(lambda: len(opened) == 2)
        async with connected(SEATS_NETWORK, port) as (reader, _):
            assert await reader.read() == b""
        for each in opened:
            each.close()
        for reader, _ in held:
            assert await reader.read() == b""

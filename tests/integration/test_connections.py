"""The connections to an agent: few, kept for the next call, and given back however a call ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from concord.a2a import http


@dataclass
class Server:
    """Answers a request with `ok`; one for `/held` once `released` is set."""

    url: str = ""
    opened: int = 0
    asked: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.asked += 1
                if b"/held" in head:
                    await self.released.wait()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    async with listening:
        yield server
        server.released.set()


@asynccontextmanager
async def client(pool_s: float = 60) -> AsyncIterator[httpx.AsyncClient]:
    async with http.http_client(httpx.Timeout(60, pool=pool_s)) as opened:
        yield opened


async def test_calls_in_a_row_share_a_connection(server: Server) -> None:
    async with client() as opened:
        assert [(await opened.get(server.url)).text for _ in range(3)] == ["ok"] * 3
    assert server.opened == 1


async def test_calls_beyond_the_limit_wait_for_a_connection(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 2)
    async with client() as opened:
        calls = [asyncio.create_task(opened.get(f"{server.url}/held")) for _ in range(5)]
        while server.asked < 2:
            await asyncio.sleep(0)
        server.released.set()
        assert [each.text for each in await asyncio.gather(*calls)] == ["ok"] * 5
    assert server.opened == 2


async def test_a_call_that_gets_no_connection_in_time_fails(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 1)
    async with client(pool_s=0) as opened:
        held = asyncio.create_task(opened.get(f"{server.url}/held"))
        while not server.asked:
            await asyncio.sleep(0)
        with pytest.raises(httpx.PoolTimeout):
            await opened.get(server.url)
        server.released.set()
        assert (await held).text == "ok"


async def test_a_cancelled_call_gives_its_turn_to_the_next(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 1)
    async with client() as opened:
        held = asyncio.create_task(opened.get(f"{server.url}/held"))
        while not server.asked:
            await asyncio.sleep(0)
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)
        assert (await opened.get(server.url)).text == "ok"
        with pytest.raises(httpx.ConnectError):
            await opened.get("http://127.0.0.1:1/")
        assert (await opened.get(server.url)).text == "ok"


async def test_calls_that_are_cancelled_at_any_step_leave_room_for_the_next(server: Server) -> None:
    async with client() as opened:
        for passes in range(3 * http.MAX_CONNECTIONS):
            cancelled = asyncio.create_task(opened.get(server.url))
            for _ in range(passes % 60):
                await asyncio.sleep(0)
            cancelled.cancel()
            await asyncio.gather(cancelled, return_exceptions=True)
        assert (await opened.get(server.url)).text == "ok"


async def test_no_more_than_a_few_idle_connections_are_kept(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_IDLE", 1)
    async with client() as opened:
        for _ in range(2):
            await asyncio.gather(*(opened.get(server.url) for _ in range(3)))
    assert server.opened == 5


async def test_a_proxy_of_the_environment_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", server.url)
    async with client() as opened:
        assert (await opened.get("http://agent.example/")).text == "ok"

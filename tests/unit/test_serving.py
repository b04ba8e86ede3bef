"""The servers of the tests close every connection at their end. One left open fails a later test, which is not at
fault."""

import asyncio
import gc
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI

from tests.kit.serving import listening, replying, served


@pytest.mark.parametrize("passes", [0, 1, 3], ids=lambda passes: f"{passes} passes of the event loop")
@pytest.mark.parametrize(
    "server",
    [pytest.param(lambda: listening(replying("200 OK")), id="raw"), pytest.param(lambda: served(FastAPI()), id="app")],
)
def test_a_server_closes_a_connection_however_shortly_before_its_end_it_came(
    server: Callable[[], AbstractAsyncContextManager[str]], passes: int
) -> None:
    async def connect_and_end(running: AbstractAsyncContextManager[str]) -> None:
        async with running as url:
            address = urlsplit(url)
            client = socket.create_connection((address.hostname, address.port))
            for _ in range(passes):
                await asyncio.sleep(0)
        client.close()

    asyncio.run(connect_and_end(server()))
    gc.collect()  # asyncio warns of an open connection when it is collected, and pytest raises the warning


async def test_a_raw_server_ends_after_a_connection_that_was_closed_before_its_answer_was_sent() -> None:
    answer = b"x" * 2**24  # more than the buffers of both sockets hold

    async def write(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    async with listening(write) as url:
        address = urlsplit(url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        assert await reader.read() == answer
        writer.close()

"""Serving without signals: apps beside each other in one event loop, each until its program stops."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from concord.service.serve import AppNotStartedError, listen, serve_until
from tests.kit.serving import LOOPBACK, url_of


def app(name: str) -> Starlette:
    async def answer(_: Request) -> PlainTextResponse:
        return PlainTextResponse(name)

    return Starlette(routes=[Route("/", answer)])


async def test_two_apps_share_an_event_loop_and_leave_the_signals_to_the_program() -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    stop, listeners = asyncio.Event(), [listen(LOOPBACK, 0), listen(LOOPBACK, 0)]
    urls = [url_of(each) for each in listeners]
    apps = zip(("one", "other"), listeners, strict=True)
    serving = asyncio.gather(*(serve_until(app(name), each, stop) for name, each in apps))
    async with httpx.AsyncClient() as client:
        assert [(await client.get(url)).text for url in urls] == ["one", "other"]
        assert {number: signal.getsignal(number) for number in handlers} == handlers
    stop.set()
    await serving


async def test_once_it_is_to_stop_a_server_finishes_open_requests_and_refuses_new_connections() -> None:
    stop, begun, listener = asyncio.Event(), asyncio.Event(), listen(LOOPBACK, 0)
    url = url_of(listener)

    async def answer(_: Request) -> PlainTextResponse:
        begun.set()
        while not refused.done():
            await asyncio.sleep(0)
        return PlainTextResponse("finished")

    async def connect_until_refused() -> None:
        await stop.wait()
        while True:
            try:
                _, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
            except OSError:
                return
            writer.close()

    refused = asyncio.create_task(connect_until_refused())
    serving = asyncio.create_task(serve_until(Starlette(routes=[Route("/", answer)]), listener, stop))
    async with httpx.AsyncClient(timeout=60) as client:
        request = asyncio.create_task(client.get(url))
        await begun.wait()
        stop.set()
        assert (await request).text == "finished"
    await serving
    assert refused.done()


async def test_an_app_that_fails_to_start_raises_and_a_connection_waits_for_the_next_one() -> None:
    @asynccontextmanager
    async def broken(_: Starlette) -> AsyncIterator[None]:
        raise ValueError("broken")
        yield

    stop, listener = asyncio.Event(), listen(LOOPBACK, 0)
    with pytest.raises(AppNotStartedError):
        await serve_until(Starlette(lifespan=broken), listener, stop)
    async with httpx.AsyncClient(timeout=60) as client:
        request = asyncio.create_task(client.get(url_of(listener)))
        serving = asyncio.create_task(serve_until(app("next"), listener, stop))
        assert (await request).text == "next"
    stop.set()
    await serving


def test_a_listener_names_its_protocol_without_which_asyncio_delays_answers() -> None:
    with listen(LOOPBACK, 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert (listener.proto, accepted.proto) == (socket.IPPROTO_TCP, socket.IPPROTO_TCP)

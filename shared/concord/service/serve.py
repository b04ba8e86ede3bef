"""Serves an app with uvicorn: the platform's arguments, and graceful shutdown."""

import argparse
import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from concord.guarded_process import SERVICE_S
from concord.loopback import LOOPBACK
from concord.service.connections import Connections
from concord.service.program import run_until_signalled

DEFAULT_PORT: Final = 9009

_BACKLOG: Final = 2048


class AppNotStartedError(Exception):
    """The app failed while it started. The log has the reason."""


def address_parser(program: str, description: str, *, port: int = DEFAULT_PORT) -> argparse.ArgumentParser:
    """A parser with `--host` and `--port`, common to all services."""
    parser = argparse.ArgumentParser(
        program, description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--host", default=LOOPBACK, help="address to listen on")
    parser.add_argument("--port", type=int, default=port, help="port to listen on")
    return parser


def serve(app: ASGIApp, host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT, then lets open requests finish for `SERVICE_S`.

    Exits with a message if the port is in use.
    """
    try:
        listener = listen(host, port)
    except OSError as error:
        raise SystemExit(f"cannot listen on {host} port {port}: {error.strerror or error}") from error
    with listener:
        try:
            run_until_signalled(partial(serve_until, app, listener))
        except AppNotStartedError as error:
            raise SystemExit(str(error)) from error


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections once an app is served on it. Raises OSError.

    It names its protocol: without it, asyncio leaves Nagle's algorithm on, and an answer waits 40 ms for the caller's
    acknowledgement of its head.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=bound.detach())


async def serve_until(
    app: ASGIApp,
    listener: socket.socket,
    stop: asyncio.Event,
    *,
    grace_s: int = SERVICE_S,
    connections: Connections | None = None,
) -> None:
    """Serves on a listening socket until `stop` is set, then closes it and lets open requests finish for `grace_s`.

    `connections`: by default, as many as the process's limit of open files permits (`Connections.of_process`).
    After an error the socket stays open, so that connections wait for the next call with it. Raises AppNotStartedError.
    """
    connections = connections or Connections.of_process()
    config = uvicorn.Config(
        connections.bounded(app),
        http=connections.protocol(),
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=grace_s,
    )
    server = _Server(config)
    with listener.dup() as accepting:
        serving = asyncio.create_task(server.serve(sockets=[accepting]))
        stopping = asyncio.create_task(stop.wait())
        ending = asyncio.create_task(connections.end_silent())
        try:
            await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
            if stop.is_set():
                listener.close()
            server.should_exit = True
            await serving
        finally:
            stopping.cancel()
            ending.cancel()


class _Server(uvicorn.Server):
    """uvicorn without its handling of signals: those belong to the program, which may have other parts."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as error:
            raise AppNotStartedError("the app did not start: see the log above") from error

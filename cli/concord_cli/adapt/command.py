"""`concord adapt`, once its arguments are parsed."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import httpx

from concord.guarded_process import CHILD_S
from concord.loopback import LOOPBACK, free_ports
from concord.trust.urls import is_loopback
from concord_cli.adapt.connection import answering
from concord_cli.adapt.proxies import IncomingProxy, OutgoingProxy
from concord_cli.adapt.trials import LOOKUP_S, Trials
from concord_cli.commands.arguments import AdaptArguments
from concord_cli.errors import UsageError
from concord_gateway.proxy.upstream import Upstream

_PROXY_VARIABLES: Final = ("HTTP_PROXY", "http_proxy")
_EXCEPTIONS: Final = ("NO_PROXY", "no_proxy")
"""Emptied, so that the agent uses the proxy for peers on the same machine."""


async def adapt(arguments: AdaptArguments) -> int:
    """Runs the agent behind its proxies until it ends; returns its exit code. Raises UsageError."""
    if not is_loopback(arguments.host) and arguments.card_url is None:
        raise UsageError(f"--host {arguments.host}: give --card-url, the URL by which others reach the agent")
    own_url = arguments.card_url or f"http://{arguments.host}:{arguments.port}/"
    inner_url, command = _agent(arguments, own_url)
    async with (
        Upstream() as upstream,
        httpx.AsyncClient(timeout=LOOKUP_S, trust_env=False) as http,
    ):
        trials = Trials(arguments.role, http)
        outgoing = OutgoingProxy(arguments.role, trials, upstream)
        incoming = IncomingProxy(inner_url, own_url, trials, upstream)
        try:
            entry = await asyncio.start_server(answering(incoming.answer), arguments.host, arguments.port)
        except OSError as error:
            raise UsageError(
                f"cannot listen on {arguments.host}:{arguments.port}: {os.strerror(error.errno or 0)}"
            ) from error
        forward = await asyncio.start_server(answering(outgoing.answer), LOOPBACK, 0)
        async with entry, forward:
            return await _run(command, _environment(outgoing.url(forward.sockets[0].getsockname()[1])))


def _agent(arguments: AdaptArguments, own_url: str) -> tuple[str, list[str]]:
    """The agent's URL, and its command."""
    if arguments.agent is not None:
        return arguments.agent, list(arguments.command)
    [port] = free_ports(1)
    address = ["--host", LOOPBACK, "--port", str(port), "--card-url", own_url]
    return f"http://{LOOPBACK}:{port}", [*arguments.command, *address]


def _environment(proxy: str) -> Mapping[str, str]:
    return {**os.environ, **dict.fromkeys(_PROXY_VARIABLES, proxy), **dict.fromkeys(_EXCEPTIONS, "")}


async def _run(command: Sequence[str], env: Mapping[str, str]) -> int:
    try:
        process = await asyncio.create_subprocess_exec(*command, env=dict(env))
    except OSError as error:
        raise UsageError(f"{command[0]}: {error.strerror}") from error
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        await _end(process)
        raise
    return 128 - code if code < 0 else code


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(CHILD_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

"""A process under a guard, which ends it when the process that started it ends: its command, and its own end."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import Final

from concord import parent_guard

# How long programs may take to end (seconds).

SERVICE_S: Final = 8
"""Open requests and running jobs of a service after SIGTERM. Container engines kill ten seconds after it."""

CHILD_S: Final = 3.0
"""A program that one of ours has started, between SIGTERM and SIGKILL."""


# The command of a guarded process, and its end.

_GROUP_TIMEOUT_S: Final = 0.5
_POLL_S: Final = 0.01


def guarded(*command: str, grace_s: float = CHILD_S) -> tuple[str, ...]:
    """The command that runs a command under a guard.

    It needs a session of its own, and a pipe as standard input that is open for as long as the command may run.
    """
    return (sys.executable, "-I", "-S", parent_guard.__file__, "run", str(grace_s), *command)


async def end_group(leader: int) -> None:
    """Kills the process group of a dead guard: the processes that its command left behind, or the command itself."""
    # The timeout is for zombies that nobody reaps, as in a container without an init process.
    with suppress(ProcessLookupError, PermissionError, TimeoutError):
        async with asyncio.timeout(_GROUP_TIMEOUT_S):
            while True:
                os.killpg(leader, signal.SIGKILL)
                await asyncio.sleep(_POLL_S)


def how_it_ended(code: int) -> str:
    """The end of a process, by its exit code; -n and 128 + n stand for signal n."""
    number = -code if code < 0 else code - 128
    try:
        return f"was ended by {signal.Signals(number).name}"
    except ValueError:
        return f"ended with exit code {code}"

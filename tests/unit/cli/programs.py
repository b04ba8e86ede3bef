"""Small real programs to supervise, and functions that find running processes."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from concord_cli.stack.supervisor import Program

SLEEPER = "import time; time.sleep(600)"

WRITES_PID = """
import os, sys
with open(sys.argv[1], "a") as file:
    print(os.getpid(), file=file)
"""
"""Appends the process's id to the file in its first argument."""

IGNORES_SIGTERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
"""Ends only when it is killed."""


def python(name: str, code: str, *arguments: str) -> Program:
    """A program that runs a few lines of Python."""
    return Program(name, (sys.executable, "-c", code, *arguments))


def is_running(pid: int) -> bool:
    """Whether a process runs; a zombie does not. Linux only."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pids_with_argument(argument: str) -> list[int]:
    """The processes with this argument on their command line, guard processes included. Linux only."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if argument in (entry / "cmdline").read_text().split("\0"):
                found.append(int(entry.name))
    return found


async def until(condition: Callable[[], bool], limit_s: float = 60) -> None:
    """Waits until the condition holds; fails if it never does."""
    deadline = monotonic() + limit_s
    while not condition():
        assert monotonic() < deadline, "the condition never held"
        await asyncio.sleep(0.02)


def pids_in(path: Path) -> list[int]:
    """The process ids that a program wrote to a file, one per line, oldest first."""
    return [int(line) for line in path.read_text().split()] if path.exists() else []

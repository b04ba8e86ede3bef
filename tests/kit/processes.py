"""Finds running processes by a mark in their environment. Linux only."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def processes_with(mark: str) -> dict[int, list[str]]:
    """The command line, by process id, of every process with `mark` in its environment or in that of its session's
    leader."""
    marked = {pid: words for pid in _all() if mark in _read(pid, "environ") and (words := _command(pid))}
    # Redis overwrites its environment with its title; the session's leader, a guard process, identifies it.
    return marked | {pid: words for pid in _all() if _session(pid) in marked and (words := _command(pid))}


def programs_with(mark: str, word: str) -> list[int]:
    """The ids of the marked processes that run `word`, oldest first, without their guard processes."""
    return sorted(
        pid
        for pid, words in processes_with(mark).items()
        if any(word in each for each in words[:3]) and not any("parent_guard.py" in each for each in words)
    )


def until(condition: Callable[[], bool], limit_s: float = 60) -> None:
    """Waits until the condition holds. Raises AssertionError after `limit_s`."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def _all() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _command(pid: int) -> list[str]:
    """The command line; empty for a zombie or a process that has ended."""
    return _read(pid, "cmdline").split("\0")[:-1]


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return -1


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""

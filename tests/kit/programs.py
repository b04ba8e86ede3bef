"""Concord's programs as processes of their own, started as users start them, for tests that kill or stop them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

READY_S = 60.0


@contextmanager
def program(module: str, *arguments: str, log: Path, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of `python -m MODULE`, which logs to a file. It is killed at the end if it still runs."""
    process = start(module, *arguments, log=log, environment=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def start(module: str, *arguments: str, log: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Starts a process of `python -m MODULE` and appends its output to a file; its standard input is empty."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


def await_answer(process: "subprocess.Popen[bytes]", url: str) -> None:
    """Waits until a GET of `url` succeeds. Raises AssertionError if the process ends, and TimeoutError."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the program ended with exit code {process.returncode}"
        try:
            if httpx.get(url).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(f"{url} does not answer")

"""Services as processes of their own, forked from a zygote: imports are most of what the start of a service costs."""

import atexit
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import mkdtemp

from tests.forked_command import ordered

ROOT = Path(__file__).parents[1]
SOCKET = "CONCORD_TESTS_ZYGOTE"
"""The variable with the path of the zygote's socket."""

_STDERR = 2
_POLL_S = 0.01


def start_zygote() -> None:
    """Starts the zygote of this process and of all that inherit its environment, and writes the forking Python."""
    folder = Path(mkdtemp(prefix="zygote-"))
    os.environ[SOCKET] = str(folder / "socket")
    zygote = subprocess.Popen(
        [sys.executable, "-m", "tests.zygote", os.environ[SOCKET]], cwd=ROOT, stdin=subprocess.PIPE
    )

    def end() -> None:
        zygote.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    *command, _ = forked_command("")
    python = Path(forking_python())
    python.write_text(
        f'#!/bin/sh\n[ "$1" = -m ] || exec {shlex.quote(sys.executable)} "$@"\nshift\nexec {shlex.join(command)} "$@"\n'
    )
    python.chmod(0o755)


class ForkedProcess:
    """A process that runs a module like `python -m MODULE ARGUMENTS...`, with the methods of `subprocess.Popen`.

    Its standard input is empty. `stdout` and `stderr` are files that it appends to, by default this process's standard
    error. `preload` names the modules that the zygote imports first, by default `MODULE`. The process is killed when
    this object or this process ends.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        stdout: Path | None = None,
        stderr: Path | None = None,
        preload: Sequence[str] = (),
    ) -> None:
        self.args = [module, *arguments]
        self.returncode: int | None = None
        with ExitStack() as opened:
            empty = opened.enter_context(Path(os.devnull).open()).fileno()
            outputs = (
                _STDERR if path is None else opened.enter_context(path.open("a")).fileno() for path in (stdout, stderr)
            )
            self._zygote, self.pid = ordered(
                os.environ[SOCKET],
                module,
                list(arguments),
                dict(os.environ if env is None else env),
                str(ROOT),
                list(preload or [module]),
                [empty, *outputs],
            )
        weakref.finalize(self, self._zygote.close)
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """The exit code, -n after signal n; None while the process runs."""
        with self._lock:
            if self.returncode is None and select.select([self._zygote], [], [], 0)[0]:
                self.returncode = int(self._zygote.recv(20))
                self._zygote.close()
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end, and returns the exit code. Raises subprocess.TimeoutExpired after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            time.sleep(_POLL_S)
        return code

    def send_signal(self, number: int) -> None:
        """Sends a signal, unless the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


def forked_command(module: str, *preload: str) -> tuple[str, ...]:
    """The words of a command that does what `python -m MODULE` does, but starts as fast as a fork."""
    command = str(ROOT / "tests/forked_command.py")
    return (sys.executable, "-I", "-S", command, os.environ[SOCKET], ",".join([module, *preload]))


def forking_python() -> str:
    """A program that does what Python does, but starts `python -m MODULE ARGUMENTS...` as fast as a fork.

    Programs with this program as `FORKING_PYTHON` in their environment start others with it.
    """
    return str(Path(os.environ[SOCKET]).with_name("python"))

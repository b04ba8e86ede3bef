"""Services as processes of their own, forked from a zygote: imports are most of what the start of a service costs."""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

ROOT = Path(__file__).parents[1]
_POLL_S = 0.01


class _Zygote:
    """The client of a `tests.zygote`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.zygote"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, order: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """The answer to an order."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            print(json.dumps(order), file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        """Ends the zygote and every process that it started."""
        self._process.communicate()


@cache
def _zygote(_module: str | None) -> _Zygote:
    """The zygote of all modules, or that of one."""
    zygote = _Zygote()
    atexit.register(zygote.end)
    return zygote


class ForkedProcess:
    """A process that runs a module like `python -m MODULE ARGUMENTS...`, with the methods of `subprocess.Popen`.

    `stdin` is the file that it reads, by default an empty one; `stdout` and `stderr` are files that it appends to, by
    default this process's standard error. `preload` names the modules that the zygote imports first, by default
    `MODULE`. `apart`: the module has a zygote of its own, because its import changes other modules.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        stdin: Path | None = None,
        stdout: Path | None = None,
        stderr: Path | None = None,
        preload: Sequence[str] = (),
        apart: bool = False,
    ) -> None:
        self.args = [module, *arguments]
        self.returncode: int | None = None
        self._zygote = _zygote(module if apart else None)
        files = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        order = {
            "module": module,
            "arguments": arguments,
            "environment": dict(os.environ if env is None else env),
            "preload": preload or [module],
            **{name: None if path is None else str(path.absolute()) for name, path in files.items()},
        }
        self.pid: int = self._zygote.ask({"start": order})

    def poll(self) -> int | None:
        """The exit code, -n after signal n; None while the process runs."""
        if self.returncode is None:
            self.returncode = self._zygote.ask({"poll": self.pid})
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
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


@cache
def forked_command(module: str, *preload: str) -> tuple[str, ...]:
    """The words of a command that does what `python -m MODULE` does, but starts as fast as a fork."""
    path = Path(mkdtemp(prefix="forks-"), "socket")
    atexit.register(shutil.rmtree, path.parent)
    ForkedProcess("tests.forked_command", str(path), preload=preload or [module])
    while not path.exists():
        time.sleep(_POLL_S)
    return (sys.executable, "-I", "-S", str(ROOT / "tests/forked_command.py"), str(path), module)

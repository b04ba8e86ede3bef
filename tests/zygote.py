"""Forks processes that run modules as `python -m` does, from one process that has imported them once.

`python -m tests.zygote MODULE...` imports the modules, of a package its `__main__` too. Then it reads orders from
standard input, a line of JSON each, and answers each with a line of JSON:

- `{"start": {"module", "arguments", "environment", "stdin", "stdout", "stderr"}}`: forks a process; the answer is its
  id. The last three are paths; without them, standard input is empty and the outputs go to the zygote's standard error.
- `{"poll": pid}`: the answer is the exit code, as `subprocess` gives it, or null while the process runs.

At the end of its input, the zygote kills the processes that still run.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import sys
from typing import Any


def serve() -> dict[str, Any] | None:
    """Executes orders. Returns None at the end of the input, and in each forked process what it was started with."""
    codes: dict[int, int | None] = {}
    for line in sys.stdin:
        order = json.loads(line)
        if "poll" in order:
            pid = order["poll"]
            if codes[pid] is None:
                ended, status = os.waitpid(pid, os.WNOHANG)
                codes[pid] = os.waitstatus_to_exitcode(status) if ended else None
            _answer(codes[pid])
        elif pid := os.fork():
            codes[pid] = None
            _answer(pid)
        else:
            started: dict[str, Any] = order["start"]
            return started
    for pid in [pid for pid, code in codes.items() if code is None]:
        os.kill(pid, signal.SIGKILL)
    return None


def become(started: dict[str, Any]) -> None:
    """Runs a module in this process, with the arguments, environment and files that the order names."""
    _connect(0, started["stdin"] or os.devnull, os.O_RDONLY)
    for number, path in ((1, started["stdout"]), (2, started["stderr"])):
        if path is not None:
            _connect(number, path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        elif number == 1:
            os.dup2(2, 1)
    os.environ.clear()
    os.environ.update(started["environment"])
    module = started["module"]
    sys.argv = [module, *started["arguments"]]
    # runpy warns of a program that was imported before.
    for name in (module, f"{module}.__main__"):
        if name in sys.modules and not hasattr(sys.modules[name], "__path__"):
            del sys.modules[name]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _connect(number: int, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o644)
    os.dup2(opened, number)
    os.close(opened)


def _answer(value: int | None) -> None:
    print(json.dumps(value), flush=True)  # noqa: T201 - the answer


def main() -> None:
    """Imports the modules and executes orders."""
    for name in sys.argv[1:]:
        if hasattr(importlib.import_module(name), "__path__"):
            importlib.import_module(f"{name}.__main__")
    gc.freeze()
    if (started := serve()) is not None:
        become(started)


if __name__ == "__main__":
    main()

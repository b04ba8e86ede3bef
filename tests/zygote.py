"""Forks processes that run a module as `python -m` does, from one process that has imported the module once.

`python -m tests.zygote MODULE [MORE...]` imports what `python -m MODULE` runs and the modules `MORE`, then reads orders
from standard input, a line of JSON each, and answers each with a line of JSON:

- `{"start": {"arguments", "environment", "stdin", "stdout", "stderr"}}`: forks a process; the answer is its id. The
  last three are paths; without them, standard input is empty and the outputs go to the zygote's standard error.
- `{"poll": pid}`: the answer is the exit code, as `subprocess` gives it, or null while the process runs.

At the end of its input, the zygote kills the processes that still run.
"""

import gc
import importlib.util
import json
import os
import runpy
import signal
import sys
from typing import Any


def serve() -> dict[str, Any] | None:
    """Executes orders. Returns None at the end of the input, and in each forked process what it was started with."""
    running: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "poll" in order:
            pid, status = os.waitpid(order["poll"], os.WNOHANG)
            running.discard(pid)
            _answer(os.waitstatus_to_exitcode(status) if pid else None)
        elif pid := os.fork():
            running.add(pid)
            _answer(pid)
        else:
            started: dict[str, Any] = order["start"]
            return started
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    return None


def become(module: str, started: dict[str, Any]) -> None:
    """Runs the module in this process, with the arguments, environment and files that the order names."""
    _connect(0, started["stdin"] or os.devnull, os.O_RDONLY)
    for number, path in ((1, started["stdout"]), (2, started["stderr"])):
        if path is not None:
            _connect(number, path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        elif number == 1:
            os.dup2(2, 1)
    os.environ.clear()
    os.environ.update(started["environment"])
    sys.argv = [module, *started["arguments"]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _connect(number: int, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o644)
    os.dup2(opened, number)
    os.close(opened)


def _answer(value: int | None) -> None:
    print(json.dumps(value), flush=True)  # noqa: T201 - the answer


def main() -> None:
    """Imports the modules and serves; a forked process runs the first of them."""
    module, *more = sys.argv[1:]
    spec = importlib.util.find_spec(module)
    assert spec is not None
    program = module if spec.submodule_search_locations is None else f"{module}.__main__"
    for name in (program, *more):
        importlib.import_module(name)
    # runpy warns of a module that it runs and finds imported.
    del sys.modules[program]
    gc.freeze()
    if (started := serve()) is not None:
        become(module, started)


if __name__ == "__main__":
    main()

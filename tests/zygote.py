"""Forks processes that run modules as `python -m` does, from one process that imports each module once.

`python -m tests.zygote` reads orders from standard input, a line of JSON each, and answers each with a line of JSON:

- `{"start": {"module", "arguments", "environment", "stdin", "stdout", "stderr", "preload"}}`: imports the modules in
  `preload`, of a package its `__main__` too, and forks a process; the answer is its id. The files are paths; without
  them, standard input is empty and the outputs go to the zygote's standard error.
- `{"poll": pid}`: the answer is the exit code, as `subprocess` gives it, or null while the process runs.

At the end of its input, the zygote kills the processes that still run.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import sys
import threading
import traceback
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing import util
from pathlib import Path
from typing import Any, NoReturn

_execute = util.spawnv_passfds


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
            continue
        started: dict[str, Any] = order["start"]
        _import(started["preload"])
        if not (pid := os.fork()):
            return started
        codes[pid] = None
        _answer(pid)
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
    run(started["module"], started["arguments"], started["environment"])


def run(module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Runs a module in this process like `python -m`, with the arguments and the environment, and ends the process.

    Like the processes of `multiprocessing`, this one does not take the interpreter apart at its end: to free each
    object, which it shares with the zygote, would copy all memory.
    """
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    # runpy warns of a program that was imported before.
    for name in (module, f"{module}.__main__"):
        if name in sys.modules and not hasattr(sys.modules[name], "__path__"):
            del sys.modules[name]
    util.spawnv_passfds = _spawn
    code = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = _code(ended)
    except Exception:
        code = 1
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined] # typeshed lists no private functions
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _code(ended: SystemExit) -> int:
    """The exit code of a process that an exception ends; prints its message, if it has one."""
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    print(ended.code, file=sys.stderr)  # noqa: T201 - as the interpreter does
    return 1


def _import(modules: Iterable[str]) -> None:
    """Imports the modules that are not imported yet."""
    new = [name for name in modules if name not in sys.modules]
    for name in new:
        if hasattr(importlib.import_module(name), "__path__"):
            importlib.import_module(f"{name}.__main__")
    if new:
        gc.freeze()


def _spawn(path: bytes, args: Sequence[Any], passfds: Sequence[int]) -> int:
    """Forks the fork server of `multiprocessing`, which would import the modules again; executes other programs.

    The fork server closes the files of its parent, except `passfds`.
    """
    if "multiprocessing.forkserver" not in args[-1]:
        return _execute(path, args, passfds)
    if pid := os.fork():
        return pid
    gc.freeze()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.SIG_DFL)
    # An object of the parent may still close a file's number, which must not be that of a new file.
    empty = os.open(os.devnull, os.O_RDWR)
    for number in (int(path.name) for path in Path("/proc/self/fd").iterdir()):
        if number > sys.stderr.fileno() and number not in {*passfds, empty}:
            os.dup2(empty, number)
    try:
        exec(args[-1])  # noqa: S102 - `multiprocessing` would pass it to `python -c`
    finally:
        os._exit(0)


def _connect(number: int, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o644)
    os.dup2(opened, number)
    os.close(opened)


def _answer(value: int | None) -> None:
    print(json.dumps(value), flush=True)  # noqa: T201 - the answer


def main() -> None:
    """Executes orders, and becomes each process that they start."""
    if (started := serve()) is not None:
        become(started)


if __name__ == "__main__":
    main()

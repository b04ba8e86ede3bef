"""Forks processes that run modules as `python -m` does, from one process that imports each module once.

`python -m tests.zygote SOCKET` serves a Unix socket until its standard input ends. A client sends one message, an order
in JSON with the process's standard files: `{"module", "arguments", "environment", "folder", "preload"}`. The zygote
imports the modules in `preload`, of a package its `__main__` too, and forks. It answers with the id of the process and,
at its end, with its exit code as `subprocess` gives it. Until then, each byte from the client is a signal to the
process, and the end of the connection kills it.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import util
from pathlib import Path
from typing import Any, NoReturn

_execute = util.spawnv_passfds


def serve(path: str) -> NoReturn:
    """Forks a process for each order."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"{path}.new")
        listener.listen()
        Path(f"{path}.new").rename(path)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:
                os._exit(0)
            connection, _ = listener.accept()
            text, files, *_ = socket.recv_fds(connection, 2**20, 3)
            order: dict[str, Any] = json.loads(text)
            _import(order["preload"])
            if not os.fork():
                break
            connection.close()
            _close(files)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if pid := os.fork():
        _close(files)
        _watch(pid, connection)
    connection.close()
    for number, opened in enumerate(files):
        os.dup2(opened, number)
    _close(files)
    os.chdir(order["folder"])
    run(order["module"], order["arguments"], order["environment"])


def _watch(pid: int, connection: socket.socket) -> NoReturn:
    """Answers with the id of a process, passes the signals from the connection on, and answers with the exit code."""
    ended = os.pidfd_open(pid)
    with suppress(ConnectionError):  # the client has ended
        connection.send(str(pid).encode())
        while ended not in select.select([ended, connection.fileno()], [], [])[0]:
            if not (number := connection.recv(1)):
                break
            signal.pidfd_send_signal(ended, number[0])
        else:
            connection.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
            os._exit(0)
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(ended, signal.SIGKILL)
    os._exit(0)


def _close(files: Iterable[int]) -> None:
    for each in files:
        os.close(each)


def run(module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Runs a module in this process like `python -m`, with the arguments and the environment, and ends the process.

    Like the processes of `multiprocessing`, this one does not take the interpreter apart at its end: to free each
    object, which it shares with the zygote, would copy all memory.
    """
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    sys.executable = environment.get("FORKING_PYTHON", sys.executable)
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
        with suppress(Exception):  # the process will raise it
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


if __name__ == "__main__":
    serve(sys.argv[1])

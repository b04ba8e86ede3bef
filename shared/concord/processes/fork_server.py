"""The fork server: a program that has imported what others need, and becomes one of them for each connection.

`python -m concord.processes.fork_server SOCKET MODULE...` imports the modules and serves at the inherited descriptor
SOCKET until standard input closes. It has no thread, no event loop and no client, and a request is read by the process
that is forked for it, so that nothing of one program is in the memory of another. Linux only.

A request is its length in eight bytes, with the descriptors that the program gets (standard input, output, error, and
those that it holds open), and JSON: `module`, `arguments`, `env`, and `grace_s` for a program under a guard. The
answers are a line with the id of the process, and one with its exit code, -n for signal n.
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from concord import parent_guard
from concord.processes.program import LENGTH

_exit_code = 1

_MAX_DESCRIPTORS: Final = 8
_ARGUMENTS_START: Final = 45
"""In `/proc/PID/stat`, after the name of the program: where the command line begins in memory; its end follows."""


def main() -> None:
    """Imports, and forks until standard input closes. Returns once what a forked process has become ends."""
    number, *modules = sys.argv[1:]
    atexit.register(_leave)  # before all others, so that it runs after them
    gc.disable()
    for each in modules:
        importlib.import_module(each)
    gc.freeze()  # a collection in a child would copy all that it looks at
    with socket.socket(fileno=int(number)) as listener:
        connection = _next_child(listener)
    if connection is None:
        os._exit(0)
    gc.enable()
    _become(connection)


def _next_child(listener: socket.socket) -> socket.socket | None:
    """Returns in each forked process, with its connection; in the server itself None, once standard input closes."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    children = dict[int, socket.socket]()
    while True:
        readable, _, _ = select.select([0, woken, listener.fileno()], [], [])
        if 0 in readable:
            return None
        if woken in readable:
            os.read(woken, 4096)
            _tell_ends(children)
        if listener.fileno() in readable:
            connection, _ = listener.accept()
            if (pid := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.close(woken)
                os.close(wakes)
                for each in children.values():
                    each.close()
                return connection
            children[pid] = connection


def _tell_ends(children: dict[int, socket.socket]) -> None:
    """Answers with the exit code of each child that has ended, and forgets it."""
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with children.pop(pid) as connection:
            try:
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            except OSError:
                continue  # whoever asked for it has ended


def _become(connection: socket.socket) -> None:
    """Runs the program that a connection asks for, in this process or in a child under a guard."""
    with connection:
        head, descriptors, _, _ = socket.recv_fds(connection, LENGTH, _MAX_DESCRIPTORS, socket.MSG_WAITALL)
        request = json.loads(connection.makefile("rb").read(int.from_bytes(head)))
        for target, each in enumerate(descriptors[:3]):
            os.dup2(each, target)
            os.close(each)
        os.environ.clear()
        os.environ.update(request["env"])
        grace_s = request["grace_s"]
        if grace_s is not None:
            os.setsid()
        connection.sendall(b"%d\n" % os.getpid())
    command = [sys.executable, "-m", request["module"], *request["arguments"]]
    if grace_s is not None:
        parent_guard.pass_signals_on()
        if (child := os.fork()) != 0:
            _entitle(parent_guard.__file__, "run", str(grace_s), *command)
            os._exit(parent_guard.watch(child, grace_s))
        for number in parent_guard.SIGNALS:
            signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
        for each in descriptors[3:]:
            os.close(each)
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - as a descriptor
            os.dup2(nothing.fileno(), 0)
    _entitle(*command)
    sys.argv = command[2:]
    _run(_main_of(request["module"]))


def _run(program: Callable[[], None]) -> None:
    """Calls a program, whose exit code is as if Python ran it."""
    global _exit_code
    try:
        program()
        _exit_code = 0
    except SystemExit as end:
        _exit_code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise


def _leave() -> None:
    """Ends the process: the interpreter would take apart, and so copy, all that is shared."""
    for each in (sys.stdout, sys.stderr):
        each.flush()
    os._exit(_exit_code)


def _main_of(name: str) -> Any:  # noqa: ANN401 - a module's function
    module = importlib.import_module(name)
    return (module if hasattr(module, "main") else importlib.import_module(f"{name}.__main__")).main


def _entitle(*command: str) -> None:
    """Shows another command line, as far as this one's memory goes, to those who list processes."""
    fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
    start, end = map(int, fields[_ARGUMENTS_START : _ARGUMENTS_START + 2])
    text = b"".join(os.fsencode(each) + b"\0" for each in command)[: end - start - 1]
    ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


if __name__ == "__main__":
    main()

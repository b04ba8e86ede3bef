"""The fork server: a process that has imported what programs need, and becomes one of them for each connection.

It serves at a socket until the other end of its lifeline, a pipe, closes. It runs in no thread, event loop or client,
and a request is read by the process that is forked for it, so that nothing of one program is in the memory of another.
Linux only.

A request is its length in eight bytes, with the descriptors that the program gets (standard input, output, error, and
those that it holds open), and JSON: `module`, `arguments`, `env`, and `grace_s` for a program under a guard. The
answers are a line with the id of the process, and one with its exit code, -n for signal n.
"""

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from concord import parent_guard
from concord.processes.program import LENGTH

_BLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"
_MAX_DESCRIPTORS: Final = 8
_ARGUMENTS_START: Final = 45
"""In `/proc/PID/stat`, after the name of the program: where the command line begins in memory; its end follows."""


def serve(
    listener: socket.socket, lifeline: Connection, modules: Sequence[str], env: Mapping[str, str], log: Path
) -> None:
    """Imports, and forks until the lifeline closes. Returns in each forked process, once its program has ended.

    `env`: the variables that what is forked can read. What the server itself prints goes to `log`.
    """
    os.setsid()
    with log.open("ab") as output, open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - as a descriptor
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        # What the process had open that has forked this one would not end with it. The numbers stay in use, lest an
        # object of that process close what another file is by then.
        kept = {1, 2, lifeline.fileno(), listener.fileno(), output.fileno(), nothing.fileno()}
        for each in {int(each.name) for each in Path("/proc/self/fd").iterdir()} - kept:
            os.dup2(nothing.fileno(), each, inheritable=False)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    for number in parent_guard.SIGNALS:
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
    os.environ.clear()
    os.environ.update(env)
    _entitle("concord.processes.fork_server")
    import_all(modules)
    with listener:
        connection = _next_child(listener, lifeline)
    if connection is not None:
        _become(connection)


def import_all(modules: Sequence[str]) -> None:
    """Imports what is shared with all that is forked afterwards. Starts no thread, and leaves no work to collections.

    A collection in what is forked would copy all that it looks at.
    """
    gc.disable()
    # Threads do not outlive a fork, and the BLAS of numpy would start some.
    before = os.environ.get(_BLAS_THREADS)
    os.environ[_BLAS_THREADS] = "1"
    try:
        for each in modules:
            importlib.import_module(each)
    finally:
        del os.environ[_BLAS_THREADS]
        if before is not None:
            os.environ[_BLAS_THREADS] = before
        gc.freeze()
        gc.enable()


def _next_child(listener: socket.socket, lifeline: Connection) -> socket.socket | None:
    """Returns in each forked process, with its connection; in the server itself None, once the lifeline closes."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    children = dict[int, socket.socket]()
    while True:
        readable, _, _ = select.select([lifeline.fileno(), woken, listener.fileno()], [], [])
        if lifeline.fileno() in readable:
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
                lifeline.close()
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
                continue  # the program that asked for it has ended


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
    command = [Path(sys.executable).name, "-m", request["module"], *request["arguments"]]
    if grace_s is not None:
        parent_guard.pass_signals_on()
        if (child := os.fork()) != 0:
            _entitle(Path(parent_guard.__file__).name, "run", str(grace_s), *command)
            os._exit(parent_guard.watch(child, grace_s))
        for number in parent_guard.SIGNALS:
            signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
        for each in descriptors[3:]:
            os.close(each)
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - as a descriptor
            os.dup2(nothing.fileno(), 0)
    _entitle(*command)
    sys.argv = command[2:]
    _main_of(request["module"])()


def _main_of(name: str) -> Any:  # noqa: ANN401 - a module's function
    module = importlib.import_module(name)
    return (module if hasattr(module, "main") else importlib.import_module(f"{name}.__main__")).main


def _entitle(*command: str) -> None:
    """Shows another command line, as far as this one's memory goes, to those who list processes."""
    fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
    start, end = map(int, fields[_ARGUMENTS_START : _ARGUMENTS_START + 2])
    text = b"".join(os.fsencode(each) + b"\0" for each in command)[: end - start - 1]
    ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)

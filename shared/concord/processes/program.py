"""The program of a process of the pool: calls functions for its parent, one after the other, over a pair of pipes.

Its parent runs this file by path, so that it starts in a few hundredths of a second. It must import nothing beyond the
standard library; a call imports what its function needs.

A message is its length in eight bytes and a pickle. The first message of the parent is `(sys.path, memory in bytes)`,
each further one `(module of the function, CPU seconds, pickle of (function, arguments, keyword arguments))`. An answer
is `(result, None)` or `(None, error)`.
"""

import gc
import importlib
import os
import pickle  # nosec B403
import resource
import select
import signal
import sys
import threading
import traceback
from typing import Any, BinaryIO, Final

LENGTH: Final = 8
"""Bytes of the length of a message."""


def main() -> None:
    """Answers calls until the parent closes the pipe or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    requests, answers = _pipes()
    threading.Thread(target=_end_with_parent, args=(requests.fileno(),), daemon=True).start()
    sys.path[:], memory_bytes = _read(requests)
    memory_base = 0
    while True:
        module, cpu_s, call = _read(requests)
        try:
            before = _data_bytes()
            _import(module)
            # The limit comes on top of what imports allocate, such as a stack and buffers for each thread of a BLAS.
            memory_base += _data_bytes() - before if memory_base else _data_bytes()
            _limit_data(memory_base + memory_bytes)
            answer = _called(call, cpu_s)
        except Exception as error:
            answer = _pickled(error)
        _write(answers, answer)


def _import(module: str) -> None:
    """Imports a module. Imports make many objects and almost no garbage: to look for it takes a fifth of their time."""
    gc.disable()
    try:
        importlib.import_module(module)
        gc.freeze()
    finally:
        gc.enable()


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes of the protocol. What a function prints goes to standard error, and it has no standard input."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _end_with_parent(pipe: int) -> None:
    """Ends the process when the parent has closed its end of the pipe, also in the middle of a call."""
    poll = select.poll()
    poll.register(pipe, 0)  # without any event: `poll` always reports a closed end
    poll.poll()
    os._exit(0)


def _called(call: bytes, cpu_s: float) -> bytes:
    """The answer to a call. Beyond its CPU time, which all threads share, SIGPROF ends the process in whatever it does.

    The kernel measures it, so that it also holds if the parent is busy or has ended.
    """
    function, args, kwargs = pickle.loads(call)  # nosec B301  # noqa: S301 - from the parent
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        return pickle.dumps((function(*args, **kwargs), None))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _pickled(error: Exception) -> bytes:
    """The error with its traceback as a note; one that cannot be pickled as a RuntimeError with its name and text."""
    if isinstance(error, MemoryError):
        return pickle.dumps((None, MemoryError()))
    note = "".join(traceback.format_exception(error))
    error.add_note(note)
    try:
        pickled = pickle.dumps((None, error))
        pickle.loads(pickled)  # nosec B301  # noqa: S301 - our own
    except Exception:
        named = RuntimeError(f"{type(error).__name__}: {error}")
        named.add_note(note)
        return pickle.dumps((None, named))
    return pickled


def _limit_data(limit: int) -> None:
    """Limits the data of this process (bytes). RLIMIT_AS would include shared libraries."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _data_bytes() -> int:
    """The data of this process that counts towards RLIMIT_DATA (bytes). 0 where the system does not report it."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:  # noqa: PTH123 - pathlib is slow to import
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:")), 0)
    except OSError:
        return 0


def _read(pipe: BinaryIO) -> Any:  # noqa: ANN401 - any message
    length = int.from_bytes(_whole(pipe, LENGTH))
    return pickle.loads(_whole(pipe, length))  # nosec B301  # noqa: S301 - from the parent


def _whole(pipe: BinaryIO, length: int) -> bytes:
    data = pipe.read(length)
    if len(data) < length:
        sys.exit()  # the parent closed the pipe
    return data


def _write(pipe: BinaryIO, message: bytes) -> None:
    try:
        pipe.write(len(message).to_bytes(LENGTH))
        pipe.write(message)
        pipe.flush()
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()

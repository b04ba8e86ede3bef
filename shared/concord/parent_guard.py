"""Cleans up after what was killed: `parent_guard.py run GRACE_S COMMAND...`, `remove FOLDER`, `after COMMAND...`.

Standard input is a pipe that the command, and all that need the folder, hold open: it closes when they have ended,
however they ended. `run` then ends COMMAND, which gets GRACE_S seconds to do so itself; `remove` removes FOLDER;
`after` runs COMMAND.

Supervisors run this file by path with `-I -S`, which starts in ten milliseconds. It must import nothing beyond the
standard library.
"""

import os
import shutil
import signal
import subprocess  # nosec B404
import sys
import threading
from collections.abc import Iterable
from typing import Final

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def run(grace_s: float, command: list[str]) -> int:
    """Runs a command and returns its exit code, 128 + n for signal n. The caller must lead its own process group."""
    # A signal to this process is meant for the command. The command inherits SIG_IGN, but no handler.
    for number in _SIGNALS:
        signal.signal(number, lambda _number, _frame: None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # nosec B603  # noqa: S603 - to run what it is given is its purpose
    parent_ended = threading.Event()
    threading.Thread(target=_end_with_parent, args=(child, grace_s, parent_ended), daemon=True).start()
    code = child.wait()
    if parent_ended.is_set():
        # Processes that the command left behind end too, and this one with them.
        os.killpg(0, signal.SIGKILL)
    return 128 - code if code < 0 else code


def remove(folder: str) -> None:
    """Removes a folder once standard input closes."""
    _wait_for_close(ignoring=_SIGNALS)
    shutil.rmtree(folder, ignore_errors=True)


def after(command: list[str]) -> int:
    """Runs a command once standard input closes, and returns its exit code."""
    _wait_for_close(ignoring=_SIGNALS)
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode  # nosec B603  # noqa: S603 - as above


def _end_with_parent(child: subprocess.Popen[bytes], grace_s: float, parent_ended: threading.Event) -> None:
    _wait_for_close()
    parent_ended.set()
    child.terminate()
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        child.kill()


def _wait_for_close(ignoring: Iterable[signal.Signals] = ()) -> None:
    for number in ignoring:
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 1):
        pass


if __name__ == "__main__":
    if sys.argv[1] == "run":
        sys.exit(run(float(sys.argv[2]), sys.argv[3:]))
    if sys.argv[1] == "after":
        sys.exit(after(sys.argv[2:]))
    remove(sys.argv[2])

"""Cleans up after what was killed: `parent_guard.py run GRACE_S COMMAND...`, `after COMMAND...`.

Standard input is a pipe that all hold open who need what is guarded: it closes when they have ended, however they
ended. `run` then ends COMMAND, which gets GRACE_S seconds to do so itself; `after` runs COMMAND.

Supervisors run this file by path with `-I -S`, which starts in ten milliseconds. It must import nothing beyond the
standard library.
"""

import os
import select
import signal
import subprocess  # nosec B404
import sys
import time
from typing import Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def run(grace_s: float, command: list[str]) -> int:
    """Runs a command and returns its exit code, 128 + n for signal n. The caller must lead its own process group."""
    pass_signals_on()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # nosec B603  # noqa: S603 - to run what it is given is its purpose
    return watch(child.pid, grace_s)


def pass_signals_on() -> None:
    """A signal to this process is meant for the command. The command inherits SIG_IGN, but no handler."""
    for number in SIGNALS:
        signal.signal(number, lambda _number, _frame: None)


def watch(child: int, grace_s: float) -> int:
    """Waits for a child process, and ends it once standard input closes. Returns its exit code, as `run` does."""
    # The end of the child wakes this thread, the only one: no other sends a signal to whatever has its id by then.
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    kill_at: float | None = None
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            break
        inputs, left_s = ([0, woken], None) if kill_at is None else ([woken], max(0.0, kill_at - time.monotonic()))
        readable, _, _ = select.select(inputs, [], [], left_s)
        if woken in readable:
            os.read(woken, 4096)
        if 0 in readable and not os.read(0, 1):
            kill_at = time.monotonic() + grace_s
            os.kill(child, signal.SIGTERM)
        if not readable:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
    if kill_at is not None:
        # Processes that the command left behind end too, and this one with them.
        os.killpg(0, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def after(command: list[str]) -> int:
    """Runs a command once standard input closes, and returns its exit code."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 1):
        pass
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode  # nosec B603  # noqa: S603 - as above


if __name__ == "__main__":
    sys.exit(run(float(sys.argv[2]), sys.argv[3:]) if sys.argv[1] == "run" else after(sys.argv[2:]))

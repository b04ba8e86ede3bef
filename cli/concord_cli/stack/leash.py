"""Holds a program to the life of whoever started it: `leash.py GRACE_S COMMAND...`, with a pipe as standard input.

When the pipe closes, on purpose or because its other end was killed, COMMAND is asked to end, and killed after GRACE_S
seconds. Run by path with `-I -S`, it starts in ten milliseconds; it must import nothing beyond the standard library.
"""

import os
import signal
import subprocess  # nosec B404  # to run what it is given is its purpose
import sys
import threading


def main(grace_s: float, command: list[str]) -> int:
    """Runs the command and returns its exit code, 128 + n for signal n. Must lead its own process group."""
    # Whoever stops this process means the command; a handler, unlike SIG_IGN, is not inherited by it.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # nosec B603  # noqa: S603 - to run what it is given is its purpose
    released = threading.Event()
    threading.Thread(target=_end_with_parent, args=(child, grace_s, released), daemon=True).start()
    code = child.wait()
    if released.is_set():
        # What the command started and left behind goes too, and this process with it.
        os.killpg(0, signal.SIGKILL)
    return 128 - code if code < 0 else code


def _end_with_parent(child: subprocess.Popen[bytes], grace_s: float, released: threading.Event) -> None:
    while os.read(0, 1):
        pass
    released.set()
    child.terminate()
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))

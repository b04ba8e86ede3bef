"""Forks a participant for each line that it reads. It imports the participants' code once, which is most of what a
start costs.

A line is JSON: the arguments, and the environment variables. The answer is a line with the process id. At the end of
its input the zygote ends its children.
"""

import contextlib
import json
import os
import signal
import sys

from concord_purple.__main__ import main


def serve() -> None:
    """Reads orders until the input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    children: list[int] = []
    for line in sys.stdin:
        arguments, variables = json.loads(line)
        if (pid := os.fork()) == 0:
            _become(arguments, variables)
        children.append(pid)
        print(pid, flush=True)  # noqa: T201 - the answer
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _become(arguments: list[str], variables: dict[str, str]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.update(variables)
    sys.argv = ["concord_purple", *arguments]
    main()
    os._exit(0)


if __name__ == "__main__":
    serve()

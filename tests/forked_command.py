"""A command that runs a module like `python -m MODULE ARGUMENTS...`, and starts as fast as a fork.

`python -I -S tests/forked_command.py SOCKET MODULE[,PRELOADED...] ARGUMENTS...` asks the zygote at the socket to fork a
process, which gets the command's environment, folder and standard files. The command passes signals on and ends as the
process does. If the command is killed, so is the process.
"""

import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress

_PASSED_ON = (signal.SIGINT, signal.SIGTERM)
_POLL_S = 0.01


def ordered(
    path: str,
    module: str,
    arguments: list[str],
    environment: dict[str, str],
    folder: str,
    preload: list[str],
    files: list[int],
) -> tuple[socket.socket, int]:
    """Starts a process with these standard files; returns the connection to the zygote and the process's id.

    The connection receives the exit code, -n after signal n. A byte sent is a signal to the process.
    """
    order = {
        "module": module,
        "arguments": arguments,
        "environment": environment,
        "folder": folder,
        "preload": preload,
    }
    while not os.path.exists(path):  # noqa: PTH110 - pathlib takes longer to import than all else here
        time.sleep(_POLL_S)
    zygote = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    zygote.connect(path)
    socket.send_fds(zygote, [json.dumps(order).encode()], files)
    return zygote, int(zygote.recv(20))


def main() -> int:
    """Runs the command, and returns the exit code of the process, -n after signal n."""
    path, names, *arguments = sys.argv[1:]
    module, *preload = names.split(",")
    folder = os.getcwd()  # noqa: PTH109
    zygote, _ = ordered(path, module, arguments, dict(os.environ), folder, [module, *preload], [0, 1, 2])

    def pass_on(number: int, _: object) -> None:
        with suppress(OSError):  # the process ended just now
            zygote.send(bytes([number]))

    with zygote:
        for each in _PASSED_ON:
            signal.signal(each, pass_on)
        return int(zygote.recv(20))


if __name__ == "__main__":
    if (code := main()) < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)

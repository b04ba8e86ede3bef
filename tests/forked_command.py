"""A command that runs a module like `python -m MODULE ARGUMENTS...`, and starts as fast as a fork.

`python -I -S tests/forked_command.py SOCKET MODULE ARGUMENTS...` asks the server at the socket to fork a process, which
gets the command's environment, folder and standard files. The command passes signals on and ends as the process does.
If the command is killed, so is the process. `python -m tests.forked_command SOCKET` is the server.
"""

import json
import os
import select
import signal
import socket
import sys

_PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def ask(path: str, module: str, arguments: list[str]) -> int:
    """Asks the server to fork a process, waits for its end, and returns its exit code, -n after signal n."""
    folder = os.getcwd()  # noqa: PTH109 - pathlib takes longer to import than all else here
    order = {"module": module, "arguments": arguments, "environment": dict(os.environ), "folder": folder}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(path)
        socket.send_fds(server, [json.dumps(order).encode()], [0, 1, 2])
        for each in _PASSED_ON:
            signal.signal(each, lambda number, _: server.send(bytes([number])))
        return int(server.recv(10))


def serve(path: str) -> None:
    """Forks a process for each connection, without end. Only forked processes return, after their module."""
    from tests.zygote import run  # the command does not need it

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"{path}.new")
        listener.listen()
        os.rename(f"{path}.new", path)  # noqa: PTH104
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            connection, _ = listener.accept()
            if not os.fork():
                break
            connection.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    text, files, *_ = socket.recv_fds(connection, 2**20, 3)
    order = json.loads(text)
    if pid := os.fork():
        for number in files:
            os.close(number)
        connection.send(str(_code(pid, connection)).encode())
    else:
        connection.close()
        for number, opened in enumerate(files):
            os.dup2(opened, number)
            os.close(opened)
        os.chdir(order["folder"])
        run(order["module"], order["arguments"], order["environment"])


def _code(pid: int, connection: socket.socket) -> int:
    """The exit code of a process, to which the signals from the connection go."""
    ended = os.pidfd_open(pid)
    while ended not in select.select([ended, connection.fileno()], [], [])[0]:
        number = connection.recv(1)
        signal.pidfd_send_signal(ended, number[0] if number else signal.SIGKILL)
        if not number:
            sys.exit()  # nobody waits for the code
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    if sys.argv[2:]:
        code = ask(sys.argv[1], sys.argv[2], sys.argv[3:])
        if code < 0:
            if -code != signal.SIGKILL:
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        sys.exit(code)
    serve(sys.argv[1])

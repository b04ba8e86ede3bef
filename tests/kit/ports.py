"""Ports of the loopback for tests. No two processes of this machine that run tests get the same port."""

import fcntl
import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import cycle
from pathlib import Path
from tempfile import gettempdir

# Below the kernel's range for outgoing connections, so that none of these takes a port before its server listens or
# while the server restarts.
_PORTS = range(10_000, 30_000)
_BLOCK = 200


def free_port() -> int:
    """A TCP port on which nothing listens. A later call returns it again only after all others of its block."""
    while True:
        port = next(_block())
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def row_of_free_ports(length: int) -> range:
    """Consecutive free ports, at most a block."""
    while True:
        row = [free_port() for _ in range(length)]
        if row[-1] - row[0] == length - 1:
            return range(row[0], row[-1] + 1)


@cache
def _block() -> Iterator[int]:
    """A block of ports, again and again. This process has it alone, because it locks the block's file until it ends."""
    folder = Path(gettempdir()) / f"concord-tests-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    blocks = len(_PORTS) // _BLOCK
    for number in random.sample(range(blocks), blocks):
        file = os.open(folder / str(number), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
        else:
            return cycle(_PORTS[number * _BLOCK : (number + 1) * _BLOCK])
    raise RuntimeError(f"other processes have locked every file in {folder}")

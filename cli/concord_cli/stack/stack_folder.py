"""The temporary folder of one run, for logs and Redis's files. It is removed after the run, however that ends."""

import asyncio
import os
import subprocess  # nosec B404
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from concord import parent_guard


@dataclass(frozen=True, slots=True)
class StackFolder:
    """A temporary folder that only its owner can read. While the descriptor `lifeline` is open, the folder stays."""

    path: Path
    lifeline: int

    def log(self, name: str) -> Path:
        """The log file of the program of that name."""
        return self.path / f"{name}.log"


@asynccontextmanager
async def stack_folder() -> AsyncIterator[StackFolder]:
    """Makes the folder, and removes it when this context and all processes that inherited `lifeline` have ended."""
    path = Path(tempfile.mkdtemp(prefix="concord-"))
    reader, lifeline = os.pipe()
    process = _remover(path, reader)
    os.close(reader)
    try:
        yield StackFolder(path, lifeline)
    finally:
        os.close(lifeline)
        await asyncio.to_thread(process.wait)


def _remover(path: Path, reader: int) -> subprocess.Popen[bytes]:
    """Not of asyncio, which may wait for its end in a thread: a fork server is forked from a process without any."""
    return subprocess.Popen(  # nosec B603  # noqa: S603 - of our own command
        (sys.executable, "-I", "-S", parent_guard.__file__, "after", "rm", "-rf", str(path)),
        stdin=reader,
        start_new_session=True,
    )

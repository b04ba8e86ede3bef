"""The folder of one run: logs and Redis's files, gone after the run however it ends."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from concord_cli.stack import parent_guard


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A temporary folder that only its owner can read, and the descriptor that keeps it from being removed."""

    path: Path
    lifeline: int

    def log(self, name: str) -> Path:
        """Where the output of the program of that name goes."""
        return self.path / f"{name}.log"


@asynccontextmanager
async def run_folder() -> AsyncIterator[RunFolder]:
    """Makes the folder. It goes when this context and every process that inherited the lifeline have ended."""
    path = Path(tempfile.mkdtemp(prefix="concord-"))
    reader, lifeline = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", parent_guard.__file__, "remove", str(path)), stdin=reader, start_new_session=True
    )
    os.close(reader)
    try:
        yield RunFolder(path, lifeline)
    finally:
        os.close(lifeline)
        await process.wait()

"""The keeper: writes a snapshot when something has changed, at most once a second, whole or not at all."""

import asyncio
import logging
import os
from pathlib import Path
from typing import Final

from concord_environment.environment import Environment
from concord_environment.persistence.snapshot import Capture, capture, render

PERIOD_S: Final = 1.0

logger = logging.getLogger(__name__)


class Keeper:
    """Keeps a file up to date; without one it does nothing."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._saved = 0
        self._writing = asyncio.Lock()

    async def save(self, environment: Environment) -> int | None:
        """Writes the snapshot if there is something new. Returns its size in bytes, or None if nothing was written."""
        async with self._writing:
            if self.path is None or environment.changes == self._saved:
                return None
            changes, captured = environment.changes, capture(environment)
            size = await asyncio.to_thread(_write, self.path, captured)
            self._saved = changes
            return size


async def keep_saved(environment: Environment, keeper: Keeper) -> None:
    """Saves what has changed, every second, until cancelled."""
    while True:
        await asyncio.sleep(PERIOD_S)
        try:
            await keeper.save(environment)
        except OSError as error:
            logger.warning("no snapshot could be written: %s", error)


def _write(path: Path, captured: Capture) -> int:
    content = render(captured)
    beside = path.with_suffix(f"{path.suffix}.new")
    # It holds hashes of keys and everybody's mail: for its owner's eyes.
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    return len(content)

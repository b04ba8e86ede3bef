"""How far reading has come: a bar on a terminal, for what takes longer than a moment."""

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

PATIENCE_S: Final = 1.0
"""What takes less than this needs no bar."""

INTERVAL_S: Final = 0.1
"""Between two updates: reading tells of every line, and drawing each would cost more than reading it."""


class ReadingProgress:
    """Counts bytes read of `total` (None: unknown) and shows them on `console` if that is a terminal."""

    def __init__(self, total: int | None, console: Console, now: Callable[[], float] = monotonic) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._task = self._progress.add_task("reading", total=total)
        self._now = now
        self._due = now() + PATIENCE_S
        self._shown = console.is_terminal
        self._unseen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._progress.live.is_started:
            self._progress.stop()

    def reading(self, name: str) -> None:
        """Says what is being read."""
        self._progress.update(self._task, description=name)

    def advance(self, n_bytes: int) -> None:
        """Counts bytes that were read."""
        self._unseen += n_bytes
        if self._shown and self._now() >= self._due:
            self._progress.start()
            self._progress.update(self._task, advance=self._unseen, refresh=True)
            self._unseen = 0
            self._due = self._now() + INTERVAL_S

"""The terminal's output: log lines, a spinner, a progress bar, and the layout of texts and tables."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final, Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.status import Status
from rich.table import Column, Table
from rich.text import Text

from concord_cli.display_text import printable

SPINNER_DELAY_S: Final = 2.0
"""Work that ends sooner needs no spinner."""

BAR_DELAY_S: Final = 1.0
"""Reading that ends sooner needs no bar."""

BAR_INTERVAL_S: Final = 0.1
"""Between two updates: the reader counts every line, and drawing each would cost more than reading it."""


WIDE: Final = 10_000
"""The width of output that no terminal shows, so that no line of it is wrapped or cut."""


class ProgressLog:
    """The log of one command, with the seconds since its start on each line. A context manager.

    On a terminal, a spinner shows the current work.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or output_console(WIDE)
        self._began = monotonic()
        self._status: Status | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear_status()

    def log(self, text: str, style: str = "") -> None:
        """Prints a line."""
        elapsed = Text(f"{monotonic() - self._began:6.1f} s  ", style="dim")
        self.console.print(elapsed + Text(printable(text), style=style), soft_wrap=True)

    def status(self, text: str) -> None:
        """Shows the current work: beside the spinner on a terminal, else as a line."""
        if not self.console.is_terminal:
            self.log(text)
        elif self._status is None:
            self._status = self.console.status(Text(printable(text)))
            self._status.start()
        else:
            self._status.update(Text(printable(text)))

    def clear_status(self) -> None:
        """Removes the spinner."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def print(self, renderable: RenderableType) -> None:
        """Prints something larger than a line."""
        self.console.print(renderable)


@asynccontextmanager
async def delayed_spinner(console: Console, text: str) -> AsyncIterator[Callable[[str], None]]:
    """Shows a spinner on a terminal once the work has taken `SPINNER_DELAY_S`. Yields a function that sets its text."""
    status = console.status(text)

    async def start() -> None:
        await asyncio.sleep(SPINNER_DELAY_S)
        if console.is_terminal:
            status.start()

    starting = asyncio.create_task(start())
    try:
        yield lambda text: status.update(Text(printable(text)))
    finally:
        starting.cancel()
        status.stop()


class ReadingProgress:
    """Counts the bytes read of `total` (None: unknown), with a bar on `console` if that is a terminal."""

    def __init__(self, total: int | None, console: Console, now: Callable[[], float] = monotonic) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._task = self._progress.add_task("reading", total=total)
        self._now = now
        self._due = now() + BAR_DELAY_S
        self._shown = console.is_terminal
        self._pending = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress.live.is_started:
            self._progress.stop()

    def reading(self, name: str) -> None:
        """Shows the name of the file that is being read."""
        self._progress.update(self._task, description=name)

    def advance(self, n_bytes: int) -> None:
        """Counts bytes that were read."""
        self._pending += n_bytes
        if self._shown and self._now() >= self._due:
            self._progress.start()
            self._progress.update(self._task, advance=self._pending, refresh=True)
            self._pending = 0
            self._due = self._now() + BAR_INTERVAL_S


def output_console(width_without_terminal: int) -> Console:
    """Standard output. Without a terminal it is wide, so that a program finds each row of a table on one line."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=width_without_terminal)


def plain_text(text: str, style: str = "") -> Text:
    """Untrusted text on one line: neither markup nor escape sequences take effect."""
    return Text(printable(text), style)


def plain_lines(text: str, style: str = "") -> Text:
    """The same, with the text's line breaks."""
    return Text("\n".join(map(printable, text.split("\n"))), style)


def plain_table(*columns: Column | str, rows: Iterable[Iterable[RenderableType | None]] = ()) -> Table:
    """A table without borders, with a header if it has named columns."""
    table = Table(*columns, box=None, show_header=bool(columns), header_style="dim", padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*row)
    return table

"""Tells whoever runs a command what is going on: a spinner and lines on a terminal, plain lines elsewhere."""

from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.status import Status
from rich.text import Text


def printable(text: str) -> str:
    """The text on one line without control characters: agents write part of it, and a terminal obeys escapes."""
    return "".join(char if char.isprintable() else " " for char in text)


class Narrator:
    """A running account of one command, each line with the seconds since it began. A context manager."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._began = monotonic()
        self._status: Status | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.rest()

    def say(self, text: str, style: str = "") -> None:
        """Prints a line that stays."""
        elapsed = Text(f"{monotonic() - self._began:6.1f} s  ", style="dim")
        self.console.print(elapsed + Text(printable(text), style=style), soft_wrap=True)

    def doing(self, text: str) -> None:
        """Says what is under way: beside a spinner where there is a terminal, else as a line."""
        if not self.console.is_terminal:
            self.say(text)
        elif self._status is None:
            self._status = self.console.status(Text(printable(text)))
            self._status.start()
        else:
            self._status.update(Text(printable(text)))

    def rest(self) -> None:
        """Nothing is under way any more: the spinner goes."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def show(self, renderable: RenderableType) -> None:
        """Prints something larger than a line."""
        self.console.print(renderable)

"""A folder whose files are one trace together, as a reader sees it: their names, and what is in each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from concord_evaluator.formats.source import Source, blaming


@dataclass(frozen=True, slots=True)
class Folder:
    """The name to call it by, and the names of the files in it; `open_file` opens one of them, and may raise OSError.

    `on_read` is told of every piece that is read (bytes).
    """

    name: str
    files: frozenset[str]
    open_file: Callable[[str], BinaryIO]
    on_read: Callable[[int], None] = lambda _: None

    @contextmanager
    def source(self, file: str) -> Iterator[Source]:
        """A file to read, under its whole name, open as long as the context lasts."""
        with self.open_file(file) as stream:
            yield Source(f"{self.name}/{file}", stream, self.on_read)

    def blaming(self) -> AbstractContextManager[None]:
        """Turns what validation and conversion raise into a FormatError about the folder."""
        return blaming(self.name, None)

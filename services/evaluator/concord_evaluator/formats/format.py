"""What a trace format is: how it recognises a file or a folder, and how it reads the traces in it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from concord_evaluator.formats.source import Head, Source, blaming
from concord_evaluator.formats.trace import Trace


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


@dataclass(frozen=True, slots=True)
class FolderFormat:
    """Whether the files of a folder, by their names, are one trace together, and the traces in such a folder.

    `read` raises FormatError, as that of a `TraceFormat` does.
    """

    recognises: Callable[[frozenset[str]], bool]
    read: Callable[[Folder], Iterator[Trace]]


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A format: whether a file looks like it, and the traces in such a file.

    `read` yields a trace as soon as it is complete, and raises FormatError for a file that is not what it looked
    like, or holds no trace. `folder`: the form that it has as a folder of files, where it has one.
    """

    recognises: Callable[[Head], bool]
    read: Callable[[Source], Iterator[Trace]]
    folder: FolderFormat | None = None

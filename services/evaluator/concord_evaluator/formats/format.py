"""The interface of trace formats: the detection of a file or a folder, and the reading of its traces."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from concord_evaluator.formats.source import Head, Source, errors_at
from concord_evaluator.formats.trace import Trace


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of files. `name`: for messages; `files`: their names; `open_file`: opens one of them, may raise OSError.

    `on_read` is called with the size of every piece that is read (bytes).
    """

    name: str
    files: frozenset[str]
    open_file: Callable[[str], BinaryIO]
    on_read: Callable[[int], None] = lambda _: None

    @contextmanager
    def source(self, file: str) -> Iterator[Source]:
        """Opens a file for the duration of the context."""
        with self.open_file(file) as stream:
            yield Source(f"{self.name}/{file}", stream, self.on_read)

    def errors_at(self) -> AbstractContextManager[None]:
        """Converts errors of validation and conversion to a FormatError about the folder."""
        return errors_at(self.name, None)


@dataclass(frozen=True, slots=True)
class FolderFormat:
    """The form of a format that is a folder. `recognises`: whether a folder with files of these names is one.

    `read` raises FormatError, as that of a `TraceFormat` does. `reads_below`: whether the folders in it belong to it,
    whose files have names such as `a/b.json`.
    """

    recognises: Callable[[frozenset[str]], bool]
    read: Callable[[Folder], Iterator[Trace]]
    reads_below: bool = False


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A trace format. `recognises`: whether a file looks like this format.

    `read` yields a trace as soon as it is complete, and raises FormatError for a file that has another format or no
    trace. `folder`: its form as a folder of files, if it has one.
    """

    recognises: Callable[[Head], bool]
    read: Callable[[Source], Iterator[Trace]]
    folder: FolderFormat | None = None

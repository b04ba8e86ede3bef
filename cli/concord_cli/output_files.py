"""Output files: each is written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from concord.files import atomic_file
from concord_cli.errors import AssessmentError, UsageError


def prepare_folder(path: Path) -> None:
    """Makes the folder of an output file before any work is done for its content. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: folder cannot be created: {error.strerror}") from error
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path}: cannot be written")


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """A file that replaces `path` in one step at the end of the context, unless that raises. Raises AssessmentError."""
    try:
        with atomic_file(path) as file:
            yield file
    except OSError as error:
        raise AssessmentError(f"{path}: cannot be written: {error.strerror}") from error


def write_text(path: Path, text: str) -> None:
    """Replaces a file's content in one step, as UTF-8. Raises AssessmentError."""
    with output_file(path) as file:
        file.write(text.encode())

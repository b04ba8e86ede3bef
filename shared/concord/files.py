"""Files that are replaced atomically: a reader sees the old content or the new, never a part of either."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO


@contextmanager
def atomic_file(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file that replaces `path` at the end of the context, unless that raises; its content is then on the disk.

    `mode` is its permissions. Several processes may replace one file: the last one wins. Raises OSError.
    """
    # The name is known before the file exists, so that a signal at any moment leaves no file behind.
    temporary = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        with open(temporary, "xb", opener=_private) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)

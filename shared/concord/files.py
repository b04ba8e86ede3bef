"""Files that are replaced atomically: a reader sees the old content or the new, never a part of either."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO


@contextmanager
def atomic_file(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file that replaces `path` at the end of the context, unless that raises; its content is then on the disk.

    `mode` is its permissions. Several processes may replace one file: the last one wins. Raises OSError.
    """
    descriptor, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

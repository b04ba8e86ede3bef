"""Files that are replaced atomically, so that a reader never sees a part of the content, and read up to a limit."""

import errno
import os
import stat
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


def open_regular(path: Path) -> BinaryIO:
    """Opens a file to read it. Raises OSError, also for a pipe or a device, which may never end."""
    # A pipe without a writer would keep an ordinary `open` waiting.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """The content of a file. Raises OSError, also for a file of more than `max_bytes`, and for a pipe or a device."""
    with open_regular(path) as file:
        content = file.read(max_bytes + 1) if os.fstat(file.fileno()).st_size <= max_bytes else None
    if content is None or len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"is longer than {max_bytes} bytes", str(path))
    return content


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)

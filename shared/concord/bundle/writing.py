"""Writes a bundle: a ZIP file whose bytes depend on the members alone."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from types import TracebackType
from typing import BinaryIO, Final, Self
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pydantic import TypeAdapter

from concord.bundle.manifest import MANIFEST, MAX_CONTENT, Manifest, Member
from concord.trace.report import ReportBatch, unpack

_LEVEL: Final = 6
_OWNER_ONLY: Final = 0o100600 << 16
_UNIX: Final = 3
_BATCH: Final = TypeAdapter(ReportBatch)


class BundleTooLargeError(Exception):
    """The members exceed `MAX_CONTENT` bytes."""


class BundleWriter:
    """Writes members one after the other, and at the end the manifest. A context manager, while the file is open."""

    def __init__(self, file: BinaryIO, max_content: int = MAX_CONTENT) -> None:
        self._archive = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=_LEVEL)
        self._members: list[Member] = []
        self._left = self._max_content = max_content

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError, ValueError):  # of an archive that is given up: `close` has raised all others
            self._archive.close()

    def add(self, name: str, content: str) -> None:
        """Writes a member at once. Raises BundleTooLargeError."""
        with self.member(name) as write:
            write(content.encode())

    @contextmanager
    def member(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """A member that is written piece by piece. Writing raises BundleTooLargeError."""
        digest, length = sha256(), 0
        with self._archive.open(_entry(name), "w") as member:

            def write(piece: bytes) -> None:
                nonlocal length
                length += len(piece)
                if length > self._left:
                    raise BundleTooLargeError(f"its members exceed {self._max_content} bytes")
                digest.update(piece)
                member.write(piece)

            yield write
        self._left -= length
        self._members.append(Member(name=name, bytes=length, sha256=digest.hexdigest()))

    def close(self, assessment_id: str, task_commitment: str | None) -> None:
        """Writes the manifest and the end of the file."""
        manifest = Manifest(
            assessment_id=assessment_id, task_secret_sha256=task_commitment, members=list(self._members)
        )
        with self._archive.open(_entry(MANIFEST), "w") as member:
            member.write(manifest.model_dump_json(indent=1).encode())
        self._archive.close()


def report_line(batch: ReportBatch) -> bytes:
    """A line of `reports.jsonl`: the batch's head, and its body as the text of a `StepBatch`. Raises zlib.error."""
    # The body is a text, not an object, because the digests of steps depend on the bytes that their reporter wrote.
    text = unpack(batch.body).decode("utf-8", "surrogateescape")
    head = _BATCH.dump_python(batch, mode="json", exclude={"body"})
    return json.dumps({**head, "body": text}, separators=(",", ":")).encode() + b"\n"


def _entry(name: str) -> ZipInfo:
    """A member without a time and without the system's settings, so that equal contents result in equal bytes."""
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    entry.create_system = _UNIX
    entry.external_attr = _OWNER_ONLY
    return entry

"""Reads a bundle, and names each member that does not match the manifest."""

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from pydantic import ValidationError

from concord.bundle.contents import BundleError
from concord.bundle.manifest import MANIFEST, MAX_CONTENT, MAX_FILE, Manifest
from concord.files import read_bounded

MAX_MANIFEST: Final = 8 * 2**20
"""Bytes of a manifest. 10,000 trials have 5 MB."""

_BROKEN: Final = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
"""The errors that reading a damaged ZIP file raises."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle whose members all match its manifest. `sha256`: of the file (hex)."""

    manifest: Manifest
    members: Mapping[str, bytes]
    sha256: str
    manifest_sha256: str


def read_bundle(path: Path) -> Bundle:
    """Reads a bundle into memory.

    Raises BundleError with one line for each fault: the file is not a ZIP file, a size exceeds its limit, or a member
    is missing, undeclared, duplicated or different from the manifest.
    """
    try:
        content = read_bounded(path, MAX_FILE)
    except OSError as error:
        raise BundleError([f"{error.strerror}"]) from error
    try:
        with ZipFile(BytesIO(content)) as archive:
            entries = archive.infolist()
            manifest, text = _manifest(archive, entries)
            if faults := [*_misfits(manifest, entries)]:
                raise BundleError(faults)
            members, faults = {}, []
            for member in manifest.members:
                found = _content(archive, member.name)
                members[member.name] = found or b""
                if found is None:
                    faults.append(f"{member.name}: is damaged")
                elif sha256(found).hexdigest() != member.sha256:
                    faults.append(f"{member.name}: does not have the SHA-256 {member.sha256} of the manifest")
    except _BROKEN as error:
        raise BundleError([f"is not a bundle: {error}"]) from error
    if faults:
        raise BundleError(faults)
    return Bundle(manifest, members, sha256(content).hexdigest(), sha256(text).hexdigest())


def _manifest(archive: ZipFile, entries: list[ZipInfo]) -> tuple[Manifest, bytes]:
    found = [entry for entry in entries if entry.filename == MANIFEST]
    if len(found) != 1:
        raise BundleError([f"has {'no' if not found else 'more than one'} {MANIFEST}"])
    if found[0].file_size > MAX_MANIFEST:
        raise BundleError([f"{MANIFEST}: is larger than {MAX_MANIFEST} bytes"])
    text = _content(archive, MANIFEST)
    try:
        if text is None:
            raise BundleError([f"{MANIFEST}: is damaged"])
        return Manifest.model_validate_json(text), text
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise BundleError([f"{MANIFEST}: {place}: {first['msg']}"]) from error


def _misfits(manifest: Manifest, entries: list[ZipInfo]) -> Iterator[str]:
    """The differences in names and sizes between the manifest and the file."""
    sizes = {entry.filename: entry.file_size for entry in entries if entry.filename != MANIFEST}
    declared = {member.name: member.bytes for member in manifest.members}
    if sum(declared.values()) > MAX_CONTENT:
        yield f"has more than {MAX_CONTENT} bytes of content"
    counted = Counter([entry.filename for entry in entries]) | Counter([each.name for each in manifest.members])
    yield from (f"{name}: occurs more than once" for name, times in sorted(counted.items()) if times > 1)
    yield from (f"{name}: is missing" for name in declared if name not in sizes)
    yield from (f"{name}: is not in the manifest" for name in sizes if name not in declared)
    yield from (
        f"{name}: has {sizes[name]} bytes, not the {length} of the manifest"
        for name, length in declared.items()
        if sizes.get(name, length) != length
    )


def _content(archive: ZipFile, name: str) -> bytes | None:
    """The content of a member; None if the member is damaged. Decompression stops at the length that the ZIP file
    states."""
    try:
        return archive.read(name)
    except _BROKEN:
        return None

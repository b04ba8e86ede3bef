"""Patches in unified format: counts files and lines like `git diff --numstat`, and reads each change."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from concord.trace.effects import MAX_EXCERPT, Effect, EffectKind, Lines, Workspace, content_digest

_HUNK: Final = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NO_FILE: Final = b"/dev/null"


@dataclass(frozen=True, slots=True)
class PatchSize:
    """The numbers of files that a patch changes, and of lines that it adds and removes."""

    files: int
    added: int
    removed: int


def patch_size(patch: Iterable[bytes]) -> PatchSize:
    """Counts the changes of a patch, given by its lines.

    The length of a hunk is in its header, so a line in it that looks like a header is not taken for one.
    """
    headers = targets = added = removed = 0
    old_left = new_left = 0
    for line in patch:
        if old_left > 0 or new_left > 0:
            is_added, is_removed = line.startswith(b"+"), line.startswith(b"-")
            added += is_added
            removed += is_removed
            if not line.startswith(b"\\"):  # "\ No newline at end of file" is a line of neither side
                old_left -= not is_added
                new_left -= not is_removed
        elif hunk := _HUNK.match(line):
            old_left, new_left = map(_length, hunk.groups()[1:])
        elif line.startswith(b"diff --git "):
            headers += 1
        elif line.startswith(b"+++ "):
            targets += 1
    return PatchSize(headers or targets, added, removed)


@dataclass(slots=True)
class Change:
    """One run of removed and added lines in a file. `start`: the line of the old file that it begins at."""

    file: str
    start: int
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    def effect(self) -> Effect:
        """The change as an edit of a file in a copy of the agent's own."""
        text = "\n".join([*(f"-{line}" for line in self.removed), *(f"+{line}" for line in self.added)])
        return Effect(
            kind=EffectKind.EDITED,
            artifact=self.file,
            lines=Lines(self.start, len(self.removed)),
            digest=content_digest(text),
            added=len(self.added),
            removed=len(self.removed),
            workspace=Workspace.SEPARATE,
            excerpt=text[:MAX_EXCERPT],
        )


def changes_in(patch: Iterable[bytes]) -> Iterator[Change]:
    """The changes of a patch, given by its lines, without the context that the hunks show around them."""
    file, place = "", 0
    old_left = new_left = 0
    change: Change | None = None
    for line in patch:
        if old_left > 0 or new_left > 0:
            sign, text = line[:1], line[1:].decode(errors="replace").rstrip("\r\n")
            if sign in {b"+", b"-"}:
                change = change or Change(file, place)
                (change.added if sign == b"+" else change.removed).append(text)
            elif sign != b"\\":
                if change is not None:
                    yield change
                change = None
            old_left -= sign not in {b"+", b"\\"}
            new_left -= sign not in {b"-", b"\\"}
            place += sign not in {b"+", b"\\"}
            continue
        if change is not None and not line.startswith(b"\\"):
            yield change
            change = None
        if hunk := _HUNK.match(line):
            old_left, new_left = map(_length, hunk.groups()[1:])
            place = int(hunk[1]) + (old_left == 0)
        elif line.startswith((b"--- ", b"+++ ")) and (named := _file_of(line)):
            file = named
    if change is not None:
        yield change


def _length(stated: bytes | None) -> int:
    return 1 if stated is None else int(stated)


def _file_of(header: bytes) -> str:
    """The file that a header names, without git's prefix; "" if it says that there is none."""
    name = header[4:].split(b"\t")[0].strip()
    return "" if name == _NO_FILE else name.removeprefix(b"a/").removeprefix(b"b/").decode(errors="replace")

"""Patches: how much one touches, counted as `git diff --numstat` does."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Touched:
    """The files that a patch touches, and the lines that it adds and removes."""

    files: int
    added: int
    removed: int


def touched_by(patch: Iterable[bytes]) -> Touched:
    """What a patch in unified format, given by its lines, touches.

    A hunk says how long it is, so that a line of it that looks like a header is none.
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
            old_left, new_left = (1 if length is None else int(length) for length in hunk.groups())
        elif line.startswith(b"diff --git "):
            headers += 1
        elif line.startswith(b"+++ "):
            targets += 1
    return Touched(headers or targets, added, removed)

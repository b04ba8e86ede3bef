"""Patches in unified format: counts files and lines like `git diff --numstat`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


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
            old_left, new_left = (1 if length is None else int(length) for length in hunk.groups())
        elif line.startswith(b"diff --git "):
            headers += 1
        elif line.startswith(b"+++ "):
            targets += 1
    return PatchSize(headers or targets, added, removed)

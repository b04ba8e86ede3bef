"""Patches: the files and lines that a patch touches, and each change, whatever its lines look like."""

from difflib import unified_diff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_research.patches import PatchSize, changes_in, patch_size

TEXTS = st.lists(st.sampled_from(["a", "", "-- b", "++ c", "@@ -1 +1 @@", "diff --git a/x b/x", " d"]), max_size=8)


def touched(patch: str) -> PatchSize:
    return patch_size(patch.encode().splitlines(keepends=True))


def patched(name: str, before: list[str], after: list[str], context: int) -> list[str]:
    return list(unified_diff(before, after, f"a/{name}", f"b/{name}", n=context, lineterm=""))


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=3), st.integers(0, 3))
def test_each_line_of_a_hunk_is_counted_whatever_it_looks_like(
    files: list[tuple[list[str], list[str]]], n: int
) -> None:
    diffs = [diff for number, texts in enumerate(files) if (diff := patched(str(number), *texts, n))]
    body = [line for diff in diffs for line in diff[2:] if not line.startswith("@@ ")]
    expected = PatchSize(
        len(diffs), sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)
    )
    assert touched("\n".join(line for diff in diffs for line in diff)) == expected
    headed = [line for number, diff in enumerate(diffs) for line in (f"diff --git a/{number} b/{number}", *diff)]
    assert touched("\n".join(headed)) == expected


@pytest.mark.parametrize("patch", ["", "\n", "no patch at all\n"])
def test_text_that_is_no_patch_touches_nothing(patch: str) -> None:
    assert touched(patch) == PatchSize(0, 0, 0)


def test_renamed_and_binary_files_count_as_touched() -> None:
    renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    binary = "diff --git a/z.png b/z.png\nindex 1..2 100644\nBinary files a/z.png and b/z.png differ\n"
    assert touched(renamed + binary) == PatchSize(2, 0, 0)


def test_the_marker_of_a_missing_line_break_is_not_a_line() -> None:
    mark = "\\ No newline at end of file"
    assert touched(f"--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n{mark}\n+new\n+more\n{mark}\n") == PatchSize(1, 2, 1)


@given(TEXTS, TEXTS, st.integers(0, 3))
def test_the_changes_turn_the_old_file_into_the_new_one(before: list[str], after: list[str], context: int) -> None:
    patch = "\n".join(patched("x", before, after, context)).encode().splitlines(keepends=True)
    result, end = list[str](), 0
    for change in changes_in(patch):
        start = change.start - 1
        assert (change.file, before[start : start + len(change.removed)]) == ("x", change.removed)
        result += before[end:start] + change.added
        end = start + len(change.removed)
    assert result + before[end:] == after


def test_a_change_names_the_old_file_if_it_was_deleted_and_the_new_one_if_it_was_renamed() -> None:
    deleted = "--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    renamed = "--- a/y.py\n+++ b/z.py\n@@ -1 +1 @@\n-a\n+b\n"
    changes = changes_in((deleted + renamed).encode().splitlines(keepends=True))
    assert [(each.file, each.effect().lines, each.effect().excerpt) for each in changes] == [
        ("x.py", (1, 1), "-a"),
        ("z.py", (1, 1), "-a\n+b"),
    ]

"""Atomic files: a replaced file has its old content or its new, never a part of either."""

import os
from pathlib import Path

import pytest

from concord.files import atomic_file, read_bounded


def test_the_new_content_appears_when_the_context_ends(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with atomic_file(path, mode=0o600) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_failure_leaves_the_old_content_and_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail_half_way() -> None:
        with atomic_file(path) as file:
            file.write(b"ne")
            raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        fail_half_way()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_pipes_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match="is not a regular file"):
            read_bounded(path, 4)


def test_a_file_is_read_up_to_its_limit_and_refused_beyond(tmp_path: Path) -> None:
    path = tmp_path / "content"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(OSError, match="is longer than 4 bytes"):
        read_bounded(path, 4)

"""The results file is there whole or not at all."""

import json
from pathlib import Path

import pytest

from concord_cli.errors import UsageError
from concord_cli.results_file import prepare_folder, write_results


def test_it_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    write_results(path, {"agent": "0197-a"}, [{"score": 1}])

    assert json.loads(path.read_text()) == {"participants": {"agent": "0197-a"}, "results": [{"score": 1}]}
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    with pytest.raises(TypeError):
        write_results(path, {}, [object()])  # type: ignore[list-item]

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_its_folder_is_made(tmp_path: Path) -> None:
    prepare_folder(tmp_path / "a" / "b" / "results.json")

    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("place", [".", "file/results.json"])
def test_a_place_where_no_file_can_be_is_refused(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be"):
        prepare_folder(tmp_path / place)

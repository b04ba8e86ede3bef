"""The oracle's file."""

import json
from pathlib import Path
from typing import Any

import pytest

from concord_purple.assistant.scripted import OracleError, load_oracle

ACTION: dict[str, Any] = {"turn": 2, "action": "chat.send_message", "parameters": {"content": "Done."}}


def test_the_oracle_ends_with_its_last_action(tmp_path: Path) -> None:
    assert load_oracle(_file(tmp_path, actions=[ACTION])).end == 2
    assert load_oracle(_file(tmp_path, actions=[ACTION], last_turn=5)).end == 5


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"actions": []}, "actions: List should have at least 1 item"),
        ({"actions": [ACTION | {"turn": 0}]}, "actions.0.turn"),
        ({"actions": [ACTION | {"action": "email.receive"}]}, "'email.receive' is none of email.send"),
        ({"actions": [ACTION], "steps": []}, "steps: Extra inputs"),
    ],
)
def test_an_invalid_file_is_refused_with_its_field(tmp_path: Path, document: dict[str, Any], reason: str) -> None:
    with pytest.raises(OracleError, match=rf"oracle\.json: .*{reason}"):
        load_oracle(_file(tmp_path, **document))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match=r"oracle\.json: No such file"):
        load_oracle(tmp_path / "oracle.json")


def _file(folder: Path, **document: object) -> Path:
    file = folder / "oracle.json"
    file.write_text(json.dumps(document))
    return file

"""Input files that cannot be read: one line and exit code 2, whichever command reads them."""

import json
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from concord_cli.main import app
from tests.unit.cli.rows import row

QUICK = Path(__file__).parents[3] / "scenarios/quick.toml"

COMMANDS = {
    "evaluate": ["evaluate"],
    "explain": ["explain"],
    "report": ["report"],
    "report --text": ["report", "--text"],
    "compare": ["compare", "{good}"],
    "verify": ["verify"],
    "report --index": ["report", "--index"],
    "audit": ["audit"],
    "run": ["run"],
    "assess": ["assess"],
    "run --models": ["run", "--models"],
    "gate": ["gate", str(QUICK), "--baseline"],
    "tasks estimate": ["tasks", "estimate"],
    "tasks reveal": ["tasks", "reveal"],
}
CONTENTS = {"missing": None, "empty": b"", "broken": b'{"a": 1,', "binary": bytes(range(256))}


def invoked(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stderr


@pytest.mark.parametrize("kind", [*CONTENTS, "folder"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_unreadable_file_is_one_line_and_exit_code_2(
    command: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, good = tmp_path / "input.json", tmp_path / "good.json"
    good.write_text(json.dumps({"participants": {}, "results": [row().model_dump(mode="json")]}))
    if kind == "folder":
        path.mkdir()
    elif (content := CONTENTS[kind]) is not None:
        path.write_bytes(content)
    words = [each.replace("{good}", str(good)) for each in COMMANDS[command]]
    code, said = invoked(*words, str(path))
    faults = [line for line in said.splitlines() if line.startswith("concord: ")]
    assert code == 2, said
    assert len(faults) == 1, said
    assert "input.json" in faults[0]


def test_broken_json_is_called_so_with_its_place(tmp_path: Path) -> None:
    (path := tmp_path / "trace.json").write_text('{"resourceSpans": [\n  {"a" 1}]}')
    code, said = invoked("evaluate", str(path))
    assert code == 2
    assert f"{path}:2: is no JSON: Expecting ':' delimiter at column 8" in said


def test_a_trace_in_the_place_of_results_names_the_command_for_it() -> None:
    trace = Path("tests/recordings/frameworks/ag2-tools.jsonl")
    for command in (["report"], ["report", "--text"]):
        code, said = invoked(*command, str(trace))
        assert code == 2
        assert f"run `concord evaluate {trace} -o results.json` first" in said


def test_a_file_of_several_results_is_read_without_flags(tmp_path: Path) -> None:
    rows = [row(assessment_id=name).model_dump(mode="json") for name in ("one", "two")]
    (path := tmp_path / "check.json").write_text(json.dumps({"participants": {}, "results": rows}))
    result = CliRunner().invoke(app, ["report", "--text", str(path)])
    assert result.exit_code == 0
    assert "check one" in result.stdout
    assert "check two" in result.stdout
    result = CliRunner().invoke(app, ["report", str(path)])
    assert result.exit_code == 0
    assert "has 2 results: that of one is shown" in result.stderr


def test_no_flag_is_shown_with_the_type_of_a_value() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for name in group.commands:
        assert "<bool>" not in CliRunner().invoke(app, [name, "--help"]).output, name

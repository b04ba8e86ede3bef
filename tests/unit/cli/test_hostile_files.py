"""Files that nobody would write by accident: every command ends with one line and an exit code, and reads no more than
its limit."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord_cli.main import app
from tests.unit.cli.rows import row

SIX_GB = 6 * 1024**3

Writer = Callable[[Path], None]


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(SIX_GB)


def _results(*time_used: str, copies: int = 1) -> Writer:
    def write(path: Path) -> None:
        document = json.dumps({"participants": {}, "results": [row().model_dump(mode="json")] * copies})
        for number in time_used:
            document = re.sub(r'"time_used": [\d.]+', f'"time_used": {number}', document, count=1)
        path.write_text(document)

    return write


def _text(text: str) -> Writer:
    def write(path: Path) -> None:
        path.write_text(text)

    return write


EVERYWHERE = {"a pipe": _pipe, "an endless file": _endless, "six gigabytes": _sparse, "nothing": _text("")}
RESULTS: dict[str, Writer] = EVERYWHERE | {
    "300 copies of a row": _results(copies=300),
    "NaN": _results("NaN"),
    "Infinity": _results("Infinity"),
    "beyond a double": _results("1e999"),
    "a long integer": _results("9" * 100_000),
    "a million brackets": _text("[" * 1_000_000),
    "a million objects": _text('{"a":' * 1_000_000),
}
TOML: dict[str, Writer] = EVERYWHERE | {
    "deep arrays": _text("a = " + "[" * 200_000),
    "a deep key": _text(".".join("a" * 100_000) + " = 1"),
    "infinity": _text('[[participants]]\nrole = "a"\nendpoint = "http://127.0.0.1:1/"\n[config]\ntimeout_s = inf\n'),
    "not a number": _text("[config]\nquiet_s = nan\n"),
    "three megabytes": _text(f'a = "{"x" * 3_000_000}"'),
}


def _one_line(arguments: list[str], path: Path) -> None:
    ended = CliRunner().invoke(app, [str(path) if each == "FILE" else each for each in arguments])
    assert ended.exit_code in {1, 2, 3, 4}, ended.exception
    assert isinstance(ended.exception, SystemExit)
    said = [line for line in ended.stderr.splitlines() if line.strip()]
    assert len(said) == 1, said
    assert path.name in said[0]
    assert len(said[0]) < 1_000


@pytest.mark.parametrize("write", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize(
    "command",
    [
        "report --text FILE",
        "report FILE",
        "verify FILE",
        "compare GOOD FILE",
        "evaluate --rejudge --rules FILE",
        "evaluate FILE",
    ],
)
def test_a_command_that_reads_results_ends_with_one_line(command: str, write: Writer, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write(path)
    good = tmp_path / "good.json"
    _results()(good)
    _one_line(command.replace("GOOD", str(good)).split(), path)


@pytest.mark.parametrize("write", TOML.values(), ids=TOML)
@pytest.mark.parametrize(
    "command", ["run FILE", "assess FILE", "check FILE --against FILE", "evaluate --config FILE FILE"]
)
def test_a_command_that_reads_a_scenario_ends_with_one_line(command: str, write: Writer, tmp_path: Path) -> None:
    path = tmp_path / "team.toml"
    write(path)
    _one_line(command.split(), path)

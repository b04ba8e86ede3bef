"""Earlier names of commands work until version 2.0 and say so; those that others copied into manifests stay."""

import pytest
from typer.testing import CliRunner

from concord_cli.commands.old_names import present
from concord_cli.main import app

OLD = {
    "up team.toml --separate": "serve --sample-team team.toml --separate",
    "up": "serve --sample-team",
    "up --no-team --port 9": "serve --port 9 --collector-port 9010",
    "up --no-team --collector-port 7": "serve --collector-port 7",
    "calibrate models.toml -o folder": "run --models models.toml -o folder",
    "calibrate -o folder models.toml": "run --models -o folder models.toml",
    "causes run.jsonl --json": "explain run.jsonl --json",
    "summary results.json -v": "report --text results.json -v",
    "view output --open": "report --index output --open",
    "sign results.json --key k": "verify --sign results.json --key k",
    "watch --collector URL": "evaluate --watch --collector URL",
    "traces list --since 10m": "evaluate --list --since 10m",
    "judge rejudge a.jsonl --rules": "evaluate --rejudge a.jsonl --rules",
    "judge calibrate labels.jsonl": "evaluate --agreement labels.jsonl",
}


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_an_old_name_means_a_present_one_and_says_so(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert present(old.split()) == new.split()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("concord: `")
    assert line.endswith("will end with version 2.0")
    _, error = CliRunner().invoke(app, [*new.split()[:1], "--help"]), capsys.readouterr().err
    assert not error


KEPT = {
    "green --port 9009": "serve --port 9009",
    "assess team.toml": "assess team.toml",
    "check new.toml": "gate --results output/check.json new.toml",
    "check -o a.json --json=b -- --json": "gate --results output/check.json --results a.json --output=b -- --json",
    "check -oa.json": "gate --results output/check.json --results a.json",
    "run": "run",
    "": "",
}


@pytest.mark.parametrize(("words", "now"), KEPT.items())
def test_names_that_others_copied_stay_without_a_word(words: str, now: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert present(words.split()) == now.split()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", ["green", "check", "assess", "summary", "causes", "up", "view"])
def test_each_leads_to_a_command(command: str) -> None:
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0

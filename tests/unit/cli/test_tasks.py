"""`concord tasks`: a task can be shown, generated again from its secret, and graded by hand."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord_cli.main import app

SECRET = "ab" * 32


def run(*arguments: str) -> str:
    """The output of a command that succeeds."""
    result = CliRunner().invoke(app, ["tasks", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_every_family_is_listed() -> None:
    assert "prefix-sums" in run("list")


def test_a_task_is_shown_without_its_key() -> None:
    assert "Key" not in run("show", "maximum")
    assert "Key" in run("show", "maximum", "--key")


def test_the_same_secret_generates_the_same_task() -> None:
    assert run("generate", "maximum", "--secret", SECRET) == run("generate", "maximum", "--secret", SECRET)
    assert run("generate", "maximum", "--secret", SECRET) != run(
        "generate", "maximum", "--secret", SECRET, "--run", "2"
    )


def test_the_key_as_answers_is_graded_1(tmp_path: Path) -> None:
    task, answers = tmp_path / "task.json", tmp_path / "answers.json"
    task.write_text(run("generate", "maximum", "--secret", SECRET))
    answers.write_text(json.dumps(json.loads(task.read_text())["key"]))
    assert "outcome 1.000" in run("grade", str(task), str(answers))
    answers.write_text("{}")
    assert "outcome 0.000" in run("grade", str(task), str(answers))


def test_an_estimate_counts_calls_tokens_and_time() -> None:
    assert "2 trial(s) of each" in run("estimate", "maximum", "--trials", "2")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["show", "maximun"], "no family is called 'maximun'"),
        (["generate", "maximum", "--secret", "ab"], "64 hexadecimal digits"),
        (["show", "maximum", "--topology", "cube"], "no topology is called 'cube'"),
        (["grade", "missing.json", "missing.json"], "missing.json"),
    ],
)
def test_wrong_arguments_are_refused_with_a_reason(arguments: list[str], reason: str) -> None:
    result = CliRunner().invoke(app, ["tasks", *arguments])
    assert result.exit_code == 2
    assert reason in result.output


def test_an_estimate_by_calls_has_no_rounds() -> None:
    in_rounds, by_calls = run("estimate", "quick"), run("estimate", "quick", "--exchange", "calls")

    assert ("rounds" in in_rounds, "rounds" in by_calls) == (True, False)
    assert "concurrent calls take" in by_calls

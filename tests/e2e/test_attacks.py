"""`make attack`: the shipped stack holds, a weakness is reported, and attacks that cannot be made are listed."""

import subprocess
import sys

import pytest

from attacks.catalogue import ATTACKS
from tests.e2e.concord import ROOT, Concord, bare_environment

pytestmark = pytest.mark.timeout(600)


def run_attacks(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `python -m attacks` with lines wide enough for its table."""
    return subprocess.run(
        [sys.executable, "-m", "attacks", *arguments],
        cwd=ROOT,
        env=bare_environment() | {"COLUMNS": "1000"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def verdicts(output: str) -> dict[str, str]:
    """The verdict on each attack, from the table."""
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in output.splitlines() if line[:1] == "│"]
    return {row[0]: row[1] for row in rows}


def test_the_shipped_stack_holds_and_attacks_that_cannot_be_made_are_listed() -> None:
    """Some of the attacks; `make attack` makes all of them."""
    held, untried = ["own assessment", "another trial", "own ports", "silence"], ["other ports", "rebinding", "judge"]
    ended = run_attacks(*held, *untried)
    assert verdicts(ended.stdout) == dict.fromkeys(held, "held") | dict.fromkeys(untried, "not tried"), ended.stdout
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_list_has_every_attack_of_the_catalogue() -> None:
    ended = run_attacks("--list")
    assert list(verdicts(ended.stdout)) == list(dict.fromkeys(attack.name for attack in ATTACKS))


def test_an_attack_that_succeeds_is_reported_and_the_exit_code_is_1() -> None:
    ended = run_attacks("without token", "forged token", CONCORD_OPEN="true")
    assert verdicts(ended.stdout) == {"without token": "not held", "forged token": "held"}, ended.stdout
    assert ended.returncode == 1


def test_a_stack_with_api_keys_is_attacked_with_one_of_them() -> None:
    ended = run_attacks("own assessment", "tasks of others", CONCORD_API_KEYS="a-key-of-the-only-client")
    assert verdicts(ended.stdout) == {"own assessment": "held", "tasks of others": "held"}, ended.stdout


def test_a_running_stack_is_attacked_by_its_urls_without_looking_inside(stack: Concord) -> None:
    urls = [f"--{name}={stack.addresses[name]}" for name in ("gateway", "collector")]
    ended = run_attacks("closed tokens", "lines in logs", *urls)
    assert verdicts(ended.stdout) == {"closed tokens": "held", "lines in logs": "not tried"}, ended.stdout
    assert ended.returncode == 0

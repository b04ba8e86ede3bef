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


def test_the_list_has_every_attack_of_the_catalogue() -> None:
    ended = run_attacks("--list")
    assert list(verdicts(ended.stdout)) == list(dict.fromkeys(attack.name for attack in ATTACKS))


def test_a_separate_stack_is_attacked_from_inside_too_and_an_attack_that_succeeds_sets_the_exit_code() -> None:
    """The stack accepts reports without a token. It has API keys, one of which the attacks use."""
    held = ["own assessment", "another trial", "own ports", "forged token", "tasks of others"]
    weak, untried = ["without token"], ["other ports", "rebinding", "judge"]
    ended = run_attacks(*held, *weak, *untried, CONCORD_OPEN="true", CONCORD_API_KEYS="a-key-of-the-only-client")
    expected = dict.fromkeys(held, "held") | dict.fromkeys(weak, "not held") | dict.fromkeys(untried, "not tried")
    assert verdicts(ended.stdout) == expected, ended.stdout
    assert ended.returncode == 1


def test_a_running_stack_is_attacked_by_its_urls_without_looking_inside(stack: Concord) -> None:
    """The shipped stack holds, so the exit code is 0."""
    urls = [f"--{name}={stack.addresses[name]}" for name in ("gateway", "collector")]
    held = ["own assessment", "another trial", "closed tokens"]
    ended = run_attacks(*held, "lines in logs", *urls)
    assert verdicts(ended.stdout) == dict.fromkeys(held, "held") | {"lines in logs": "not tried"}, ended.stdout
    assert ended.returncode == 0

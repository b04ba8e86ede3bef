"""`make attack`: the shipped stack holds, an open door shows, and what cannot be tried is said to be so."""

import subprocess
import sys

import pytest

from attacks.catalogue import ATTACKS
from tests.e2e.concord import ROOT, Concord, bare_environment

pytestmark = pytest.mark.timeout(600)


def attacked(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """All that an attack says, on lines wide enough for it."""
    return subprocess.run(
        [sys.executable, "-m", "attacks", *arguments],
        cwd=ROOT,
        env=bare_environment() | {"COLUMNS": "1000"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def verdicts(output: str) -> dict[str, str]:
    """How each attack ended, by the table at the end."""
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in output.splitlines() if line[:1] == "│"]
    return {row[0]: row[1] for row in rows}


def test_the_shipped_stack_holds_and_what_cannot_be_tried_is_told() -> None:
    """A few of them. `make attack` makes them all."""
    held, untried = ["own assessment", "another trial", "own ports", "silence"], ["other ports", "rebinding", "judge"]
    ended = attacked(*held, *untried)
    assert verdicts(ended.stdout) == dict.fromkeys(held, "held") | dict.fromkeys(untried, "not tried"), ended.stdout
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_attack_has_a_name_of_its_own_and_says_what_it_does() -> None:
    ended = attacked("--list")
    assert list(verdicts(ended.stdout)) == list(dict.fromkeys(attack.name for attack in ATTACKS))
    assert all(attack.how for attack in ATTACKS)


def test_an_open_door_is_reported() -> None:
    ended = attacked("without token", "forged token", CONCORD_OPEN="true")
    assert verdicts(ended.stdout) == {"without token": "not held", "forged token": "held"}, ended.stdout
    assert ended.returncode == 1


def test_a_stack_with_keys_is_attacked_with_one() -> None:
    ended = attacked("own assessment", "tasks of others", CONCORD_API_KEYS="a-key-of-the-only-client")
    assert verdicts(ended.stdout) == {"own assessment": "held", "tasks of others": "held"}, ended.stdout


def test_a_stack_that_runs_is_attacked_by_its_urls_as_far_as_the_network_goes(stack: Concord) -> None:
    urls = [f"--{name}={stack.addresses[name]}" for name in ("gateway", "collector")]
    ended = attacked("closed tokens", "lines in logs", *urls)
    assert verdicts(ended.stdout) == {"closed tokens": "held", "lines in logs": "not tried"}, ended.stdout
    assert ended.returncode == 0

"""`make attack`: a weakness is reported, and attacks that cannot be made are listed."""

import sys

import pytest

from attacks.__main__ import main
from attacks.catalogue import ATTACKS
from tests.e2e.attacks import run_attacks, verdicts

pytestmark = pytest.mark.timeout(600)


def test_the_list_has_every_attack_of_the_catalogue(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["attacks", "--list"])
    monkeypatch.setenv("COLUMNS", "1000")
    assert main() == 0
    assert list(verdicts(capsys.readouterr().out)) == list(dict.fromkeys(attack.name for attack in ATTACKS))


def test_a_separate_stack_is_attacked_from_inside_too_and_an_attack_that_succeeds_sets_the_exit_code() -> None:
    """The stack accepts reports without a token. It has API keys, one of which the attacks use."""
    held = ["own assessment", "another trial", "own ports", "forged token", "tasks of others"]
    weak, untried = ["without token"], ["other ports", "rebinding", "judge"]
    ended = run_attacks(*held, *weak, *untried, CONCORD_OPEN="true", CONCORD_API_KEYS="a-key-of-the-only-client")
    expected = dict.fromkeys(held, "held") | dict.fromkeys(weak, "not held") | dict.fromkeys(untried, "not tried")
    assert verdicts(ended.stdout) == expected, ended.stdout
    assert ended.returncode == 1

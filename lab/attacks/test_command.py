"""`make attack`: a weakness is reported, and attacks that cannot be made are listed."""

import sys
from pathlib import Path

import pytest

from lab.attacks.__main__ import main
from lab.attacks.catalogue import ATTACKS
from lab.attacks.command import run_attacks, verdicts
from tests.kit.concord import BAD, concord
from tests.kit.ports import row_of_free_ports

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


def test_a_running_stack_is_attacked_by_its_urls_without_looking_inside(tmp_path: Path) -> None:
    """The shipped stack holds, so the exit code is 0."""
    ports = iter(row_of_free_ports(8))
    options = [f"--{name}-port={next(ports)}" for name in ("gateway", "collector", "agents")]
    held = ["own assessment", "another trial", "closed tokens"]
    with concord(tmp_path, "serve", str(BAD), *options) as stack:
        stack.read_until("Press Ctrl-C to stop all programs.")
        urls = [f"--{name}={stack.addresses[name]}" for name in ("gateway", "collector")]
        ended = run_attacks(*held, "lines in logs", *urls)
    assert verdicts(ended.stdout) == dict.fromkeys(held, "held") | {"lines in logs": "not tried"}, ended.stdout
    assert ended.returncode == 0

"""A signal ends a command with the signal's exit code, even if compiled code turned its exception into another."""

import os
import signal
from collections.abc import Callable

import pytest
import typer
from pydantic_core import to_json

from concord_cli.errors import AssessmentError
from concord_cli.exits import FAILED, INTERRUPTED, TERMINATED, exit_codes, terminable

SIGNALS = pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)], ids=["SIGINT", "SIGTERM"]
)


def signalled(number: signal.Signals) -> None:
    """Sends the signal within a callback of compiled code, which turns the signal's exception into a ValueError."""

    def fallback(_: object) -> str:
        os.kill(os.getpid(), number)
        return "never told"

    to_json(object(), fallback=fallback)


def run(command: Callable[[Callable[[], None]], None]) -> None:
    with exit_codes(), terminable() as ended:
        command(ended)


def code_of(command: Callable[[Callable[[], None]], None]) -> int:
    with pytest.raises(typer.Exit) as left:
        run(command)
    return left.value.exit_code


@SIGNALS
def test_an_error_that_was_made_of_it_is_no_failure(number: signal.Signals, code: int) -> None:
    def command(_: Callable[[], None]) -> None:
        try:
            signalled(number)
        except ValueError as error:
            raise AssessmentError("not what it should be") from error

    assert code_of(command) == code


@SIGNALS
def test_it_is_raised_again_where_errors_are_dealt_with(number: signal.Signals, code: int) -> None:
    went_on = []

    def command(ended: Callable[[], None]) -> None:
        try:
            signalled(number)
        except ValueError:
            ended()
        went_on.append(True)

    assert code_of(command) == code
    assert not went_on


def test_a_failure_without_a_signal_stays_one() -> None:
    def command(ended: Callable[[], None]) -> None:
        ended()
        raise AssessmentError("not what it should be")

    assert code_of(command) == FAILED

"""Exit codes: a signal decides the exit code, even if compiled code turned the signal's exception into another."""

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


def send_signal_in_compiled_code(number: signal.Signals) -> None:
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
def test_an_error_caused_by_a_signal_exits_with_the_signals_code(number: signal.Signals, code: int) -> None:
    def command(_: Callable[[], None]) -> None:
        try:
            send_signal_in_compiled_code(number)
        except ValueError as error:
            raise AssessmentError("not what it should be") from error

    assert code_of(command) == code


@SIGNALS
def test_a_signal_ends_a_command_that_handles_the_error_it_became(number: signal.Signals, code: int) -> None:
    went_on = []

    def command(ended: Callable[[], None]) -> None:
        try:
            send_signal_in_compiled_code(number)
        except ValueError:
            ended()
        went_on.append(True)

    assert code_of(command) == code
    assert not went_on


def test_a_failure_without_a_signal_exits_as_failed() -> None:
    def command(ended: Callable[[], None]) -> None:
        ended()
        raise AssessmentError("not what it should be")

    assert code_of(command) == FAILED

"""How commands end: each error becomes a line on standard error and an exit code."""

import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn, TypeVar

import typer

from concord_cli.display_text import printable
from concord_cli.errors import AssessmentError, IncompleteError, PlugInsDifferError, UnrecognisedError, UsageError

T = TypeVar("T")

FAILED, USAGE, INCOMPLETE, UNRECOGNISED, WORSE, PLUG_INS, INTERRUPTED, TERMINATED = 1, 2, 3, 4, 5, 6, 130, 143
"""Exit codes: no result; an invalid command line or input file; an incomplete result or none that is sure; no agent; a
worse version; other plug-ins; Ctrl-C; SIGTERM."""

MAX_LINES = 20
"""Lines of an error that are shown: a screen."""


class TerminatedError(BaseException):
    """SIGTERM arrived. Like KeyboardInterrupt, it is not an Exception, so that no handler swallows it."""


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turns the errors that end a command into a line on standard error and an exit code."""
    try:
        yield
    except tuple(_CODES) as error:
        leave(next(code for kind, code in _CODES.items() if isinstance(error, kind)), str(error))
    except KeyboardInterrupt:
        leave(INTERRUPTED, "interrupted")
    except TerminatedError:
        leave(TERMINATED, "terminated")


_CODES: Final[dict[type[Exception], int]] = {
    UsageError: USAGE,
    AssessmentError: FAILED,
    IncompleteError: INCOMPLETE,
    UnrecognisedError: UNRECOGNISED,
    PlugInsDifferError: PLUG_INS,
}


def leave(code: int, message: str) -> NoReturn:
    """Ends the command with a message on standard error."""
    lines = [printable(line) for line in message.splitlines()]
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [f"… and {len(lines) - MAX_LINES + 1} more lines"]
    typer.echo("concord: " + "\n".join(lines), err=True)
    raise typer.Exit(code)


@contextmanager
def terminable() -> Iterator[Callable[[], None]]:
    """Makes Ctrl-C and SIGTERM raise an exception in a synchronous command, wherever it is.

    Compiled code, such as pydantic's, may turn that exception into an error of its own. The yielded function raises the
    original again: call it before handling an error that may be such a one.
    """
    raised: list[type[BaseException]] = []

    def end(number: int, _: object) -> None:
        raised.append(KeyboardInterrupt if number == signal.SIGINT else TerminatedError)
        raise raised[0]

    def reraise() -> None:
        if raised:
            raise raised[0]

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield reraise
    except Exception:
        reraise()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def execute(work: Coroutine[Any, Any, T]) -> T:
    """Runs an asynchronous command, and returns its result."""
    import asyncio

    return asyncio.run(_until_terminated(work))


async def _until_terminated(work: Coroutine[Any, Any, T]) -> T:
    """Runs a command that SIGTERM ends as Ctrl-C does: the command is cancelled and may clean up."""
    import asyncio

    task = asyncio.create_task(work)
    terminated = asyncio.Event()

    def terminate() -> None:
        terminated.set()
        task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await task
    except asyncio.CancelledError:
        if terminated.is_set():
            raise TerminatedError from None
        raise

"""How commands end: what can go wrong as a line on standard error, and an exit code."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from concord_cli.display_text import printable
from concord_cli.errors import AssessmentError, IncompleteError, UsageError

FAILED, USAGE, INCOMPLETE, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143
"""Exit codes: no result; a bad command line or scenario; a result that lacks something; Ctrl-C; SIGTERM."""


class TerminatedError(BaseException):
    """SIGTERM came. Like KeyboardInterrupt, no error that anybody should deal with."""


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turns what can end a command into a line on standard error and an exit code."""
    try:
        yield
    except UsageError as error:
        _leave(USAGE, str(error))
    except AssessmentError as error:
        _leave(FAILED, str(error))
    except IncompleteError as error:
        _leave(INCOMPLETE, str(error))
    except KeyboardInterrupt:
        _leave(INTERRUPTED, "interrupted")
    except TerminatedError:
        _leave(TERMINATED, "terminated")


def _leave(code: int, message: str) -> None:
    typer.echo("concord: " + "\n".join(map(printable, message.splitlines())), err=True)
    raise typer.Exit(code)


@contextmanager
def terminable() -> Iterator[Callable[[], None]]:
    """Lets Ctrl-C and SIGTERM end a command that is not asynchronous by an exception where it stands.

    Compiled code may make an error of its own of that exception, as pydantic does: what comes of it is not the
    command's failure but its end all the same. The yielded function raises it again where such an error is dealt with.
    """
    came: list[type[BaseException]] = []

    def end(number: int, _: object) -> None:
        came.append(KeyboardInterrupt if number == signal.SIGINT else TerminatedError)
        raise came[0]

    def ended() -> None:
        if came:
            raise came[0]

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ended
    except Exception:
        ended()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def execute(work: Coroutine[Any, Any, None]) -> None:
    """Runs an asynchronous command."""
    asyncio.run(_until_terminated(work))


async def _until_terminated(work: Coroutine[Any, Any, None]) -> None:
    """Runs a command so that SIGTERM ends it like Ctrl-C does: by cancelling it and waiting for its clean-up."""
    task = asyncio.create_task(work)
    came = asyncio.Event()

    def terminate() -> None:
        came.set()
        task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        await task
    except asyncio.CancelledError:
        if came.is_set():
            raise TerminatedError from None
        raise

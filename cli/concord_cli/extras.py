"""The extras of Concord's distribution: what a command says if the packages that it needs are not installed."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

from concord_cli.errors import UsageError

_PROGRAMS: Final = {
    "environment": ("sortedcontainers",),
    "green": ("aiolimiter", "networkx", "redis", "tenacity"),
}
"""For an extra, modules that tell whether its programs can start. Each program needs one of them."""


def lacking(command: str, module: str | None, extras: str) -> str:
    """The line for a command that needs a module of an extra, or of several with commas between them."""
    return f"`{command}` needs the module {module}: pip install 'concord-agents[{extras}]'"


@contextmanager
def needing(command: str, extras: str) -> Iterator[None]:
    """Raises UsageError with the extras to install if a third party's module cannot be imported in the context."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("concord"):
            raise
        raise UsageError(lacking(command, error.name, extras)) from error


def check_programs(command: str, extra: str) -> None:
    """Raises UsageError if the programs of an extra, which a command starts in processes of their own, cannot start."""
    for module in _PROGRAMS[extra]:
        if find_spec(module) is None:
            raise UsageError(lacking(command, module, extra))

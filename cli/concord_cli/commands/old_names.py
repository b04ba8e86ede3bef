"""Commands under their earlier names, which work until version 2.0 with a line on standard error."""

from collections.abc import Callable, Sequence
from typing import Final

import typer


def _up(rest: Sequence[str]) -> list[str]:
    """`up` starts a sample team unless it gets a scenario or `--no-team`, and has a port for the collector."""
    if "--no-team" in rest:
        with_port = any(each.startswith("--collector-port") for each in rest)
        return ["serve", *(each for each in rest if each != "--no-team"), *([] if with_port else _COLLECTOR_PORT)]
    return ["serve", "--sample-team", *rest]


_COLLECTOR_PORT: Final = ("--collector-port", "9010")


def _now(*words: str) -> Callable[[Sequence[str]], list[str]]:
    return lambda rest: [*words, *rest]


_RENAMED: Final[dict[tuple[str, ...], tuple[str, Callable[[Sequence[str]], list[str]]]]] = {
    ("up",): ("serve SCENARIO", _up),
    ("calibrate",): ("run --models", _now("run", "--models")),
    ("causes",): ("explain", _now("explain")),
    ("summary",): ("report --text", _now("report", "--text")),
    ("view",): ("report --index", _now("report", "--index")),
    ("sign",): ("verify --sign", _now("verify", "--sign")),
    ("watch",): ("evaluate --watch", _now("evaluate", "--watch")),
    ("traces", "list"): ("evaluate --list", _now("evaluate", "--list")),
    ("judge", "rejudge"): ("evaluate --rejudge", _now("evaluate", "--rejudge")),
    ("judge", "calibrate"): ("evaluate --agreement", _now("evaluate", "--agreement")),
}
"""By earlier name: the present one, and the arguments that it takes for the earlier ones."""


def _check(rest: Sequence[str]) -> list[str]:
    """`check` calls the results file `--output`, and `--json FILE` is the one for the verdict."""
    end = rest.index("--") if "--" in rest else len(rest)
    words = ["--results", "output/check.json"]  # the last one given holds
    for word in rest[:end]:
        name, equals, value = word.partition("=")
        if word.startswith("-o"):
            words += filter(None, ["--results", word[2:]])
        else:
            words.append(_OF_CHECK.get(name, name) + equals + value)
    return ["gate", *words, *rest[end:]]


_OF_CHECK: Final = {"--output": "--results", "--json": "--output"}

KEPT: Final[dict[str, Callable[[Sequence[str]], list[str]]]] = {"green": _now("serve"), "check": _check}
"""Names that manifests and workflows call, and that stay for good."""


def present(arguments: Sequence[str]) -> list[str]:
    """The arguments under the present names. Says so on standard error if they have an earlier one."""
    for length in (1, 2):
        if (found := _RENAMED.get(tuple(arguments[:length]))) is not None:
            name, rewritten = found
            old = " ".join(arguments[:length])
            typer.echo(f"concord: `{old}` is now `concord {name}`, and will end with version 2.0", err=True)
            return rewritten(arguments[length:])
    return KEPT.get(arguments[0], _now(arguments[0]))(arguments[1:]) if arguments else []

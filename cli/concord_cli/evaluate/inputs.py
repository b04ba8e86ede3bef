"""What is to be evaluated: the files that the paths of a command line stand for, and how they are configured."""

import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NoReturn

from pydantic import ValidationError
from pydantic_core import from_json

from concord.assessment import AssessmentConfig
from concord_cli.errors import UsageError
from concord_cli.scenario import reasons
from concord_evaluator.formats import FormatError, Source, Trace, read_traces

STDIN: Final = Path("-")

_OF_EVALUATION: Final = frozenset(
    {"agentbeats_ids", "evaluators", "evidence", "metrics", "roster", "seed", "strict", "thresholds", "weights"}
)
"""Keys of a config that matter once a trace is there; the others say how to come by one."""


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The files, those in folders recursively and sorted, without hidden ones. Raises UsageError."""
    files: list[Path] = []
    for path in paths:
        if path == STDIN or (path.exists() and not path.is_dir()):
            files.append(path)
        elif path.is_dir():
            inside = sorted(_files_in(path))
            if not inside:
                raise UsageError(f"{path}: holds no files")
            files.extend(inside)
        else:
            raise UsageError(f"{path}: no such file or folder")
    return files


def _files_in(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(root, name) for name in names if not name.startswith("."))


def _raised(fault: FormatError) -> NoReturn:
    raise fault


def traces_in(
    path: Path,
    format_name: str | None,
    on_read: Callable[[int], None] = lambda _: None,
    on_fault: Callable[[FormatError], None] = _raised,
) -> Iterator[Trace]:
    """The traces of a file, which stays open as long as they come; `on_read`, `on_fault` as a `Source` has them.

    Raises FormatError, also if it cannot be read.
    """
    try:
        if path == STDIN:
            yield from read_traces(Source("stdin", sys.stdin.buffer, on_read, on_fault), format_name)
            return
        with path.open("rb") as file:
            yield from read_traces(Source(str(path), file, on_read, on_fault), format_name)
    except OSError as error:
        raise FormatError(str(path), None, f"cannot be read: {error.strerror}") from error


def read_config(path: Path | None) -> AssessmentConfig:
    """The keys of an assessment's config, in a TOML or JSON file; the defaults without one. Raises UsageError."""
    if path is None:
        return AssessmentConfig()
    try:
        config = AssessmentConfig.model_validate(_parsed(path))
    except ValidationError as error:
        raise UsageError(f"{path}: {reasons(error)}") from error
    except ValueError as error:
        raise UsageError(f"{path}: cannot be parsed: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if config.unknown_keys:
        raise UsageError(f"{path}: unknown keys: {', '.join(config.unknown_keys)}")
    return config


def _parsed(path: Path) -> object:
    if path.suffix == ".toml":
        return tomllib.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".json":
        parsed: object = from_json(path.read_bytes())
        return parsed
    raise UsageError(f"{path}: neither .toml nor .json")


def without_effect(config: AssessmentConfig) -> list[str]:
    """The keys given that make no difference to a trace that is there, sorted."""
    return sorted(config.model_fields_set - _OF_EVALUATION)

"""The input of `concord evaluate`: the files and folders that its arguments name, and its config."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from concord.assessment import AssessmentConfig
from concord.files import open_regular, unknown_key
from concord_cli.errors import UsageError
from concord_cli.input_files import content_of, json_of, toml_of, validated
from concord_evaluator.expectations import Expectations, read_expectations
from concord_evaluator.formats import (
    FORMATS,
    Folder,
    FormatError,
    Source,
    Trace,
    folder_formats,
    read_folder,
    read_traces,
    recognised_by,
)

STDIN: Final = Path("-")

_EVALUATION_KEYS: Final = frozenset(
    {"agentbeats_ids", "evaluators", "evidence", "metrics", "roster", "seed", "strict", "thresholds"}
)
"""The config keys that affect an evaluation; the others affect how a trace comes about."""


class Inputs(NamedTuple):
    """`paths`: the files to read, `-`, and folders each of which is one trace.

    `beside`: files of no known format above such folders, such as logs and summaries of runs.
    """

    paths: list[Path]
    beside: list[Path]


def find_inputs(paths: Sequence[Path], format_name: str | None = None) -> Inputs:
    """Finds the files to read: folders recursively, sorted, without hidden files. Raises UsageError."""
    found = Inputs([], [])
    for path in paths:
        if path == STDIN or (path.exists() and not path.is_dir()):
            found.paths.append(path)
        elif path.is_dir():
            inside = _inputs_in(path, format_name)
            if not inside.paths:
                raise UsageError(f"{path}: no files found in this folder")
            found.paths.extend(sorted(inside.paths))
            found.beside.extend(sorted(inside.beside))
        else:
            raise UsageError(f"{path}: no such file or folder")
    return found


def _inputs_in(folder: Path, format_name: str | None) -> Inputs:
    files: list[Path] = []
    whole: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        visible = _visible(names)
        if found := folder_formats(_files_below(Path(root)), format_name):
            whole.append(Path(root))
            if any((form := FORMATS.installed[name].folder) and form.reads_below for name in found):
                folders.clear()
        else:
            files += (Path(root, name) for name in visible)
    above = {parent for path in whole for parent in path.parents}
    beside = [file for file in files if file.parent in above and not _is_trace(file, format_name)]
    return Inputs([*set(files).difference(beside), *whole], beside)


def _visible(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith("."))


def _is_trace(file: Path, format_name: str | None) -> bool:
    """Whether a file looks like a trace. An unreadable file counts as one, so that reading it reports the error."""
    try:
        with open_regular(file) as stream:
            head = Source(str(file), stream).head
    except (OSError, FormatError):
        return True
    return bool(recognised_by(head, format_name))


def _raised(fault: FormatError) -> NoReturn:
    raise fault


def traces_in(
    path: Path,
    format_name: str | None,
    on_read: Callable[[int], None] = lambda _: None,
    on_fault: Callable[[FormatError], None] = _raised,
    *,
    joins_sessions: bool = False,
) -> Iterator[Trace]:
    """Yields the traces of a file, or of a folder that is one trace; for the other arguments see `Source`.

    The file stays open until its last trace. Raises FormatError, also for an unreadable file.
    """
    try:
        if path.is_dir():
            yield from read_folder(_folder(path, on_read), format_name)
            return
        if path == STDIN:
            yield from read_traces(
                Source("stdin", sys.stdin.buffer, on_read, on_fault, joins_sessions=joins_sessions), format_name
            )
            return
        with open_regular(path) as file:
            source = Source(str(path), file, on_read, on_fault, joins_sessions=joins_sessions)
            if _is_results(source.head.json_keys):
                raise source.error(f"a results file, not a trace: to see it, run `concord report {path}`")
            yield from read_traces(source, format_name)
    except OSError as error:
        raise FormatError(str(error.filename or path), None, f"cannot be read: {error.strerror}") from error


def is_recording(path: Path) -> bool:
    """Whether a path has traces: a folder, or a file of a known format that is no results file."""
    if path.is_dir():
        return True
    try:
        with open_regular(path) as stream:
            head = Source(str(path), stream).head
            return not _is_results(head.json_keys) and bool(recognised_by(head))
    except (OSError, FormatError):
        return False


def _is_results(keys: frozenset[str]) -> bool:
    """Whether these are the first keys of a results document, or of a row."""
    return keys >= {"participants", "results"} or keys >= {"pass_rate", "time_used", "task_rewards"}


def _files_below(folder: Path) -> frozenset[str]:
    """The files in a folder, and those in a folder of one in it, by their paths; without hidden ones."""
    places = ("*", "*/*", "*/*/*")
    found = (path.relative_to(folder) for place in places for path in folder.glob(place) if not path.is_dir())
    return frozenset(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))


def _folder(path: Path, on_read: Callable[[int], None]) -> Folder:
    return Folder(str(path), _files_below(path), lambda file: open_regular(path / file), on_read)


def read_config(path: Path | None) -> AssessmentConfig:
    """Reads an assessment's config from a TOML or JSON file; the defaults without a file. Raises UsageError."""
    if path is None:
        return AssessmentConfig()
    if path.suffix not in {".toml", ".json"}:
        raise UsageError(f"{path}: unknown file type: use .toml or .json")
    config = validated(path, toml_of(path) if path.suffix == ".toml" else json_of(path), AssessmentConfig)
    if config.unknown_keys:
        unknown = (f"{key}: {unknown_key(key, [AssessmentConfig])}" for key in config.unknown_keys)
        raise UsageError(f"{path}: {'; '.join(unknown)}")
    return config


MAX_EXPECTED: Final = 64 << 20
"""Bytes of a file of expected answers."""


def read_expected(path: Path | None) -> Expectations | None:
    """The expected answers in a file, `.csv` or `.jsonl`; None without a file. Raises UsageError."""
    if path is None:
        return None
    if path.suffix not in {".csv", ".jsonl"}:
        raise UsageError(f"{path}: unknown file type: use .csv or .jsonl, with trace or task, target and scorer")
    try:
        lines = content_of(path, MAX_EXPECTED).decode("utf-8-sig").splitlines(keepends=True)
        return read_expectations(lines, as_csv=path.suffix == ".csv")
    except ValueError as error:
        raise UsageError(f"{path}:{error}") from error


def without_effect(config: AssessmentConfig) -> list[str]:
    """The given config keys that do not affect an evaluation, sorted."""
    return sorted(config.model_fields_set - _EVALUATION_KEYS)

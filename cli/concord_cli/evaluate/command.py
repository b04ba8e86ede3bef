"""`concord evaluate`, once its arguments are parsed."""

import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from concord.assessment.recorded_work import Redaction
from concord.assessment.result_row import ResultRow
from concord.rows import COMPRESSED
from concord_cli.display_text import counted, printable, shortened
from concord_cli.errors import AssessmentError, IncompleteError, UnrecognisedError, UsageError
from concord_cli.evaluate.inputs import find_inputs, read_config, read_expected, traces_in, without_effect
from concord_cli.evaluate.outputs import graph_writer, result_writer
from concord_cli.evaluate.rows import TraceRows
from concord_cli.evaluate.table import EvaluatedTraces
from concord_cli.terminal import WIDE, ReadingProgress, output_console
from concord_cli.traces.collector import OpenCollector
from concord_evaluator.expectations import Expectations, graded
from concord_evaluator.formats import FORMATS, FormatError, Trace, redactor
from concord_evaluator.formats import UnrecognisedError as UnrecognisedFileError
from concord_evaluator.metrics import METRICS
from concord_evaluator.pipeline import EVALUATORS, without_garbage_collection

LARGE: Final = 30 << 20
"""Bytes of a file of rows whose compression is advised."""

MAX_REASONS: Final = 20
"""Limit of the reasons why records of one file are unreadable that are reported."""

_NUMBER: Final = re.compile(r"\d+")

SPLIT = "Concord evaluates each part as a separate trace (to evaluate them as one, join the files or pipe them to `-`)"


@dataclass(frozen=True, slots=True)
class EvaluateArguments:
    """The arguments of the command. `paths`: files, folders, or `-` for standard input. `expect`: a file."""

    paths: Sequence[Path]
    format_name: str | None
    config: Path | None
    output: Path | None
    graphml: Path | None
    keep_going: bool
    quiet: bool
    redaction: Redaction | None = None
    expect: Path | None = None
    join_sessions: bool = False


def evaluate(arguments: EvaluateArguments, reraise: Callable[[], None]) -> None:
    """Evaluates all traces of all files.

    `reraise` raises the signal's exception again, if a signal ended the command (see `exits.terminable`).

    An unreadable record is reported and left out, and so is an unreadable file with `keep_going`; the command then
    fails at its end. Raises UsageError, also for an unreadable file; AssessmentError for files that were skipped;
    UnrecognisedError if only files without agents stand in the way; IncompleteError for unreadable records.
    """
    errors = Console(stderr=True, highlight=False)
    config = read_config(arguments.config)
    _check_plugins(arguments.format_name)
    files, beside = find_inputs(arguments.paths, arguments.format_name)
    for file in beside if not arguments.quiet else ():
        _print_line(errors, f"{file}: not read: not a trace in any known format")
    if (idle := without_effect(config)) and not arguments.quiet:
        _print_line(errors, f"{arguments.config}: ignored, no effect on recorded traces: {', '.join(idle)}")
    rows = TraceRows(config)
    expected = read_expected(arguments.expect)
    evaluation = _Evaluation(arguments, rows, partial(_print_line, errors), reraise, expected)
    with (
        closing(rows),
        without_garbage_collection(),  # `TraceRows` collects it rarely
        result_writer(arguments.output, config.agentbeats_ids) as write,
        graph_writer(arguments.graphml) as draw,
        ReadingProgress(_size(files), errors) as progress,
    ):
        for file in files:
            progress.reading(str(file))
            for row in evaluation.rows_of(file, progress.advance):
                write(row)
                draw(row)
        if not evaluation.found.count and evaluation.unrecognised == evaluation.files_left_out != []:
            raise UnrecognisedError("no agent recognised in the input: nothing was evaluated")
        if not evaluation.found.count:
            raise AssessmentError("no trace found in the input")
    if not arguments.quiet:
        _show(evaluation.found, [file for file in files if file not in evaluation.files_left_out])
        if expected is not None and (unused := expected.unused):
            listed = ", ".join(shortened(each, 60) for each in unused[:3]) + (", …" if unused[3:] else "")
            _print_line(errors, f"{arguments.expect}: no trace for {counted(len(unused), 'expected answer')}: {listed}")
        if (output := arguments.output) is not None and output.suffix != COMPRESSED and output.stat().st_size > LARGE:
            size = output.stat().st_size / 1e6
            _print_line(errors, f"{output} has {size:.0f} MB: {output.name}{COMPRESSED} would have a tenth")
    if evaluation.files_left_out:
        only_unrecognised = evaluation.files_left_out == evaluation.unrecognised
        raise (UnrecognisedError if only_unrecognised else AssessmentError)(
            f"{len(evaluation.files_left_out)} of {_files_and_folders(files)} skipped"
        )
    if evaluation.records_left_out:
        raise IncompleteError(f"unreadable records skipped: {evaluation.records_left_out}")


def evaluate_traces(
    arguments: EvaluateArguments, url: str | None, since: str | None, reraise: Callable[[], None]
) -> None:
    """Evaluates files, or with `url` the traces of an open collector, as one file. Raises as `evaluate` does."""
    if url is None:
        evaluate(arguments, reraise)
        return
    if arguments.paths or arguments.format_name:
        raise UsageError("--collector cannot be combined with files or --format")
    with OpenCollector(url) as collector:
        kept = collector.traces(collector.since(since)).traces
        if not kept:
            raise AssessmentError(f"{url} has no traces" + ("" if since is None else f" with spans since {since}"))
        with collector.downloaded(kept) as file:
            evaluate(replace(arguments, paths=[file], format_name="otlp"), reraise)


@dataclass(slots=True)
class _Evaluation:
    """Reads and evaluates file by file, and keeps count. `report` prints a line; `reraise`: see `evaluate`."""

    arguments: EvaluateArguments
    rows: TraceRows
    report: Callable[[str], None]
    reraise: Callable[[], None]
    expected: Expectations | None = None
    found: EvaluatedTraces = field(default_factory=EvaluatedTraces)
    files_left_out: list[Path] = field(default_factory=list)
    unrecognised: list[Path] = field(default_factory=list)
    records_left_out: int = 0
    _files_of: dict[str, Path] = field(default_factory=dict)
    _redact: Callable[[Trace], Trace] = field(init=False)

    def __post_init__(self) -> None:
        self._redact = redactor(self.arguments.redaction)

    def rows_of(self, file: Path, on_read: Callable[[int], None]) -> Iterator[ResultRow]:
        """Yields the rows of a file's traces, as it reads them."""
        before, faults = self.found.count, UnreadableRecords(self.report)

        def note(fault: FormatError) -> None:
            self.reraise()
            faults.note(fault)

        try:
            joins = self.arguments.join_sessions
            traces = traces_in(file, self.arguments.format_name, on_read, note, joins_sessions=joins)
            for row in self.rows.of(self._noted(traces, file)):
                self.found.add(row)
                yield row
            if faults.count and self.found.count == before:
                raise faults.as_error(str(file))
        except FormatError as error:
            self.reraise()
            faults.report_held()
            self._leave_out(file, error, self.found.count - before)
        else:
            faults.report_held()
            self.records_left_out += faults.count

    def _noted(self, traces: Iterable[Trace], file: Path) -> Iterator[Trace]:
        """The traces, as they are read, without texts if these are redacted; warns of one that is also in another
        file."""
        for trace in traces:
            first = self._files_of.setdefault(trace.trace_id, file)
            if first != file and not self.arguments.quiet:
                self.report(f"{file}: {trace.trace_id} is also in {first}; {SPLIT}")
            yield self._redact(graded(trace, self.expected))
            del trace  # it may be large, and so may the next one

    def _leave_out(self, file: Path, error: FormatError, kept: int) -> None:
        unrecognised = isinstance(error, UnrecognisedFileError)
        if not self.arguments.keep_going:
            raise (UnrecognisedError if unrecognised else UsageError)(str(error)) from error
        self.files_left_out.append(file)
        if unrecognised:
            self.unrecognised.append(file)
        self.report(f"skipped: {error}" + (f" ({kept} traces before this point were evaluated)" if kept else ""))


def _check_plugins(name: str | None) -> None:
    """Checks that the installed plugins load, and that one has the format of that name. Raises UsageError."""
    if (fault := FORMATS.fault or METRICS.fault or EVALUATORS.fault) is not None:
        raise UsageError(fault)
    if name is not None and name not in FORMATS.installed:
        raise UsageError(f"unknown format {name}: one of {', '.join(FORMATS.installed)}")


def _size(files: Sequence[Path]) -> int | None:
    """The size of the input in bytes; None if it is unknown, as for a pipe."""
    try:
        found = [path.stat() for path in files]
    except OSError:
        return None
    return sum(each.st_size for each in found) if all(stat.S_ISREG(each.st_mode) for each in found) else None


def _print_line(console: Console, text: str) -> None:
    console.print(Text(f"concord: {printable(text)}"), soft_wrap=True)


def _show(evaluated: EvaluatedTraces, files: Sequence[Path]) -> None:
    console = output_console(WIDE)
    console.print(evaluated.table())
    console.print(f"\n{counted(evaluated.count, 'trace')} of {_files_and_folders(files)} evaluated")


def _files_and_folders(paths: Sequence[Path]) -> str:
    """The numbers of files and folders, in words."""
    folders = sum(path.is_dir() for path in paths)
    counts = {"file": len(paths) - folders, "folder": folders}
    in_words = [counted(n, kind) for kind, n in counts.items() if n]
    return " and ".join(in_words) or "0 files"


class UnreadableRecords:
    """Counts the unreadable records of one file, and reports those with one reason on one line.

    All are held back until the file ends: if there is nothing else, the first is the file's error.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._first: dict[str, FormatError] = {}
        self._alike: Counter[str] = Counter()
        self.count = 0

    def note(self, fault: FormatError) -> None:
        """Counts a fault."""
        self.count += 1
        reason = _NUMBER.sub("", fault.reason)
        if reason in self._first or len(self._first) < MAX_REASONS:
            self._first.setdefault(reason, fault)
            self._alike[reason] += 1

    def report_held(self) -> None:
        """Reports the faults, since the file holds more than these records."""
        for reason, first in self._first.items():
            alike = self._alike[reason] - 1
            self._report(f"skipped: {first}" + (f" (and {alike:,} more like it)" if alike else ""))

    def as_error(self, file: str) -> FormatError:
        """The error of a file without any readable record, which no other report repeats."""
        first = next(iter(self._first.values()))
        self._first.clear()
        if self.count == 1:
            return first
        return FormatError(file, None, f"none of its {self.count:,} records can be read; the first: {first.reason}")

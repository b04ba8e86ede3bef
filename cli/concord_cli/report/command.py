"""`concord report`, once its arguments are parsed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Final

import typer

from concord.assessment import Mode
from concord.assessment.result_row import ResultRow
from concord_cli.errors import UsageError
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.report.renderer import render, render_document
from concord_cli.report.traces import Division, RunFacts, by_date, by_label, by_version, page_of
from concord_cli.results_file import COMPRESSED, chosen_rows, rows_in
from concord_cli.row_view.metrics import installed_definitions

_Divide = Callable[[Sequence[RunFacts]], Division | None]

DIVISIONS: Final[Mapping[str, _Divide]] = {"version": by_version, "date": by_date, "label": by_label}
"""How the page on many traces may divide them into two groups."""


@dataclass(frozen=True, slots=True)
class ReportArguments:
    """The arguments of the command. `by`: a division; None for all. `at`: the time at which `date` divides."""

    results: Path
    output: Path | None = None
    trial_id: str | None = None
    assessment_id: str | None = None
    by: str | None = None
    at: datetime | None = None


def report(arguments: ReportArguments) -> Path:
    """Writes the page on a row of a results file, on one of its trials, or on all of many recorded traces.

    Returns its path. Raises UsageError for an invalid results file or an unknown row or trial; AssessmentError if the
    page cannot be written.
    """
    page = _page(arguments)
    uncompressed = arguments.results.with_suffix("") if arguments.results.suffix == COMPRESSED else arguments.results
    path = uncompressed.with_suffix(".html") if arguments.output is None else arguments.output
    prepare_folder(path)
    write_text(path, page)
    return path


def _page(arguments: ReportArguments) -> str:
    chosen = arguments.trial_id is not None or arguments.assessment_id is not None
    rows = rows_in(arguments.results)
    first = [] if chosen else list(islice(rows, 2))
    if len(first) > 1 and all(row.detail.mode is Mode.RECORDED for row in first):
        return _page_on_many(arguments, _recorded(chain(first, rows), arguments.results))
    if arguments.by is not None or arguments.at is not None:
        raise UsageError(f"{arguments.results}: --by and --at compare many recorded traces, and this is one result")
    results = chosen_rows(arguments.results, arguments.assessment_id)
    worst = min(results, key=lambda row: (row.score is None, row.score))
    if len(results) > 1:
        shown = f"the page shows that of {worst.detail.assessment_id}, which has the lowest score"
        typer.echo(f"concord: {arguments.results} has {len(results)} results: {shown}; --assessment chooses", err=True)
    return render(worst, arguments.trial_id, installed_definitions())


def _recorded(rows: Iterator[ResultRow], path: Path) -> Iterator[ResultRow]:
    for row in rows:
        if row.detail.mode is not Mode.RECORDED:
            other = row.detail.assessment_id
            raise UsageError(f"{path}: has recorded traces and assessments: choose one with --assessment ({other}, …)")
        yield row


def _page_on_many(arguments: ReportArguments, rows: Iterator[ResultRow]) -> str:
    runs = list(map(RunFacts.of, rows))
    if arguments.by is not None and arguments.by not in DIVISIONS:
        raise UsageError(f"--by {arguments.by}: one of {', '.join(DIVISIONS)}")
    divide = dict(DIVISIONS) | {"date": partial(by_date, at=arguments.at)}
    wanted = DIVISIONS if arguments.by is None else (arguments.by,)
    divisions = {name: found for name in wanted if (found := divide[name](runs)) is not None}
    if arguments.by is not None and not divisions:
        raise UsageError(f"{arguments.results}: its traces have no two groups by {arguments.by}")
    page = page_of(arguments.results.name, runs, list(divisions.values()))
    return render_document("traces.html.j2", ("report.css", "traces.css"), "report.js", page=page)

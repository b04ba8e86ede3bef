"""`concord explain`, once its arguments are parsed."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic_core import to_jsonable_python
from rich.console import Console, Group, RenderableType
from rich.text import Text

from concord.assessment.observations import observation_text
from concord.assessment.outcome import outcome_of
from concord.assessment.verdict import Cause, Evidence
from concord.assessment.verdict_text import deed_text
from concord.wire.roster import Roster
from concord_cli.display_text import beginning, counted, on_one_line
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import find_inputs, traces_in
from concord_cli.judge.rejudge import DEADLINE_S, configured_model, is_result
from concord_cli.results_file import rows_in
from concord_cli.terminal import WIDE, delayed_spinner, output_console, plain_lines
from concord_evaluator.diagnosis import TraceDiagnosis, diagnose
from concord_evaluator.formats import FormatError, Trace
from concord_evaluator.judge import BlameOpinion, FailedRun, failed_run, failed_trial, opinion_on
from concord_evaluator.observations import acts_of

MAX_SHOWN: Final = 5
"""Causes, observations and steps of a trace that are printed; JSON has all."""

MAX_OPINION: Final = 500
"""Characters of a model's text that are printed; JSON has all."""


def causes(paths: Sequence[Path], format_name: str | None, *, as_json: bool) -> None:
    """Prints the diagnosis of each trace of files and folders, as text or as a JSON object on each line.

    Raises UsageError, also for an unreadable file, after the traces before it; AssessmentError without any trace.
    """
    console = output_console(WIDE)
    shown = 0
    for path in find_inputs(paths, format_name).paths:
        for trace in _traces(path, format_name):
            _show(console, diagnose(trace), as_json=as_json)
            shown += 1
    _check_any(shown)


async def causes_with_opinions(paths: Sequence[Path], format_name: str | None, *, as_json: bool) -> None:
    """The same, each with the configured model's opinion on who failed; also of the trials in results files.

    Of a run that succeeded, the model is not asked. Raises UsageError also without an API key, before anything is read.
    """
    settings = configured_model("leave out --judge: all else needs no model")
    deadline_s = max(DEADLINE_S, 2 * settings.timeout_s)
    console = output_console(WIDE)
    shown = 0
    async with delayed_spinner(Console(stderr=True, highlight=False), "Asking") as say:
        for path in find_inputs(paths, format_name).paths:
            for found, run in _trials(path) if is_result(path) else _runs(path, format_name):
                say(f"Asking about {found.trace_id}")
                passed = outcome_of(found.outcome) == "Passed"
                opinion = None if passed else await opinion_on(run, settings, deadline_s)
                _show(console, found, opinion, as_json=as_json, asked=True)
                shown += 1
    _check_any(shown)


def _traces(path: Path, format_name: str | None) -> Iterator[Trace]:
    try:
        yield from traces_in(path, format_name)
    except FormatError as error:
        raise UsageError(str(error)) from error


def _check_any(shown: int) -> None:
    if not shown:
        raise AssessmentError("no trace found in the input")


def _runs(path: Path, format_name: str | None) -> Iterator[tuple[TraceDiagnosis, FailedRun]]:
    """The traces of a file, diagnosed, and what a model reads of each."""
    for trace in _traces(path, format_name):
        found = diagnose(trace)
        acts = acts_of(trace.reports(), Roster(trace.roster))
        target = () if trace.expected is None else trace.expected.target or ()
        yield found, failed_run(acts, found.observations, trace.task, trace.answer, target)


def _trials(path: Path) -> Iterator[tuple[TraceDiagnosis, FailedRun]]:
    """The trials of a results file as their rows diagnose them, and what a model reads of each."""
    for row in rows_in(path):
        for trial in row.detail.trials:
            outcome = None if trial.passed is None else float(trial.passed)
            found = TraceDiagnosis(trial.trace_id, str(path), outcome, trial.causes, trial.observations, trial.reading)
            yield found, failed_trial(trial)


def _show(
    console: Console,
    found: TraceDiagnosis,
    opinion: BlameOpinion | None = None,
    *,
    as_json: bool,
    asked: bool = False,
) -> None:
    """Prints a diagnosis; if a model was `asked`, with its opinion, which is None of a run that succeeded."""
    if as_json:
        told = {"verdict": outcome_of(found.outcome), **to_jsonable_python(found)}
        told |= {"opinion": to_jsonable_python(opinion)} if asked else {}
        console.print(Text(json.dumps(told)), soft_wrap=True)  # ASCII: no terminal obeys it
    else:
        console.print(Group(*_lines(found), *_opinion(opinion)))


def _lines(found: TraceDiagnosis) -> Iterator[RenderableType]:
    part = "" if found.outcome in (0.0, 1.0, None) else f", outcome {found.outcome:.2f}"
    yield plain_lines(on_one_line(f"{found.trace_id}: {outcome_of(found.outcome)}{part}"))
    yield from _block("What failed, or cost points", [(_cause(each), each.evidence) for each in found.causes])
    alone = [each for each in found.observations if each.cause is None]
    yield from _block(
        "Observed; nobody has shown that it cost anything",
        [(observation_text(each), each.evidence) for each in alone],
    )
    yield from _block(
        "To read first (not blame; unproven)",
        [(f"{each.step_id} {each.agent}: {each.reason}", ()) for each in found.reading],
    )
    if not (found.causes or alone or found.reading):
        yield Text("  Nothing was observed")


def _opinion(opinion: BlameOpinion | None) -> Iterator[Text]:
    """What a model thinks, apart from all that was found, and marked as what it is."""
    if opinion is None:
        return
    yield plain_lines(f"  Opinion of the model {on_one_line(opinion.model)} (not found by code; costs no points)")
    match opinion.verdict:
        case "none":
            yield plain_lines(f"    it has none: {beginning(opinion.problem or '', MAX_OPINION)}")
        case "cannot_tell":
            yield Text("    it cannot tell who caused the failure")
        case "named":
            yield plain_lines(f"    {on_one_line(f'{opinion.step_id} {opinion.agent}')} caused the failure")
            if opinion.supported:
                yield plain_lines(f"      it quotes: {beginning(opinion.quote, MAX_OPINION)}")
            else:
                yield Text("      unsupported: what it quotes does not stand in this step")
            yield plain_lines(f"      instead: {beginning(opinion.instead, MAX_OPINION)}")
    if opinion.condensed:
        yield Text("    it did not see the whole run, which is too long")
    if opinion.tokens is not None:
        price = "" if opinion.money is None else f", {opinion.money:.4f} {opinion.currency}"
        yield Text(f"    {counted(opinion.model_calls, 'answer')}, {opinion.tokens:,} tokens{price}")


def _cause(cause: Cause) -> str:
    points = "" if cause.points is None else f", {cause.points:.1f} points"
    return f"{deed_text(cause)} ({cause.certainty}{points})"


def _block(head: str, entries: Sequence[tuple[str, Sequence[Evidence]]]) -> Iterator[RenderableType]:
    if not entries:
        return
    yield Text(f"  {head}")
    for text, evidence in entries[:MAX_SHOWN]:
        yield plain_lines(f"    {on_one_line(text)}")
        for each in evidence:
            source = " ".join(part for part in (each.step_id, each.agent) if part)
            yield plain_lines(f"      {on_one_line(source)}: {on_one_line(each.text)}")
    if len(entries) > MAX_SHOWN:
        yield Text(f"    and {counted(len(entries) - MAX_SHOWN, 'other')} (--json lists all)")

"""What the agents of a trial did, in words: what was observed, why its answer is wrong, and the conversation."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from concord.assessment.observations import Observation, observation_text
from concord.assessment.recorded_work import RecordedUse, RecordedWork, SaidStep
from concord.assessment.results import TrialRecord
from concord.assessment.team_results import PartFailure, TeamTaskRecord
from concord.assessment.verdict import WITHOUT_FACTS
from concord.wire.roster import GREEN_AGENT
from concord_cli.display_text import counted, named, on_one_line, visible
from concord_cli.number_text import NONE, count, duration
from concord_cli.report.calls import ASSESSOR, CallName
from concord_cli.row_view.recorded import failure_text
from concord_cli.row_view.table import Cell, Column, Table, not_listed, number_columns, table_of

LONG: Final = 400
"""A longer text (characters) is folded."""

MAX_LINES: Final = 60
"""Limit of the lines of a table of failures."""

MAX_FACTS: Final = 4
"""Limit of the facts and seats that a line names."""

CRITERIA: Final = "criteria"
"""The scorer of assistants, whose criteria and vetoes say what was lost."""

MAX_CALL_LINKS: Final = 6
"""Limit of the messages to which a line links."""

Calls = Mapping[str, CallName]
"""The calls that the page lists, by step id."""

# What was observed in a trial that lost something, and the steps to read first.


@dataclass(frozen=True, slots=True)
class StepText:
    """What an agent said or did in a step, or why to read it. `call`: the step's row, if it is a listed call."""

    agent: str
    step: str
    call: CallName | None
    text: str


@dataclass(frozen=True, slots=True)
class ObservationView:
    """An observation in words. `is_cause`: whether the graders tie it to what was lost."""

    text: str
    is_cause: bool
    quotes: list[StepText]


@dataclass(frozen=True, slots=True)
class ObservedView:
    """Causes before mere observations, and the reading order where no cause is shown."""

    observations: list[ObservationView]
    omitted: int
    reading: list[StepText]


def observed_in(trial: TrialRecord, calls: Calls) -> ObservedView | None:
    """The first block of a trial; None if there is nothing to show."""
    if not trial.observations and not trial.reading:
        return None
    ordered = sorted(trial.observations, key=lambda each: each.cause is None)
    explained = trial.grading is not None and trial.grading.scorer == CRITERIA
    reading = ((each.agent, each.step_id, each.reason) for each in trial.reading if not explained)
    return ObservedView(
        observations=[_observation(each, calls) for each in ordered],
        omitted=trial.observations_omitted,
        reading=[StepText(on_one_line(who), on_one_line(step), calls.get(step), why) for who, step, why in reading],
    )


def _observation(found: Observation, calls: Calls) -> ObservationView:
    quotes = ((each.agent or "", each.step_id or "", each.text) for each in found.evidence)
    return ObservationView(
        text=on_one_line(observation_text(found)),
        is_cause=found.cause is not None,
        quotes=[
            StepText(on_one_line(who), on_one_line(step), calls.get(step), visible(text).strip())
            for who, step, text in quotes
        ],
    )


# Why the answer of a team task is wrong.


def failures_in(record: TeamTaskRecord, calls: Calls) -> Table:
    """The failures of one trial, in the order of the record, those of the same cause, seats and facts in a row."""
    alike: defaultdict[tuple[str, tuple[str, ...], str], list[PartFailure]] = defaultdict(list)
    for failure in record.failures:
        alike[failure.cause, tuple(failure.seats), _facts(failure)].append(failure)
    groups = list(alike.values())
    unlisted = sum(map(len, groups[MAX_LINES:])) + max(0, record.failures_omitted)
    columns = Column("Parts"), Column("Cause", "cause"), Column("Seat"), Column("Lost facts", "facts")
    return table_of(
        "Failures of this trial",
        [*columns, Column("Shown by")],
        (_failure(failures, calls) for failures in groups[:MAX_LINES]),
        left_out=not_listed(unlisted, "further failure"),
    )


def _failure(failures: Sequence[PartFailure], calls: Calls) -> tuple[Cell | str, ...]:
    first = failures[0]
    more = [f"{len(first.seats) - MAX_FACTS} more"] if len(first.seats) > MAX_FACTS else []
    shown = dict.fromkeys(
        calls[each.step_id] for each in failures if each.step_id is not None and each.step_id in calls
    )
    links = tuple((call.text, f"#{call.row}") for call in shown)[:MAX_CALL_LINKS]
    return (
        _listed(list(dict.fromkeys(failure.part for failure in failures))),
        Cell(named(first.cause), sign="✕"),
        " or ".join([*map(on_one_line, first.seats[:MAX_FACTS]), *more]),
        _facts(first) or NONE,
        Cell("", links=links) if links else NONE,
    )


def _facts(failure: PartFailure) -> str:
    return "" if failure.cause in WITHOUT_FACTS else _listed(failure.facts, failure.facts_omitted)


def _listed(texts: Sequence[str], omitted: int = 0) -> str:
    rest = max(0, len(texts) - MAX_FACTS) + max(0, omitted)
    more = [f"and {rest:,} more"] if rest else []
    return ", ".join([*map(on_one_line, texts[:MAX_FACTS]), *more])


# The work that a trace tells of: the conversation with folded tools, uses, and failures.


@dataclass(frozen=True, slots=True)
class StepView:
    """A call, or the use of a tool or a model. `texts`: what each is, the text, and whether it is folded.

    `call`: the row of the call in the table, if it has one.
    """

    title: str
    facts: str
    texts: list[tuple[str, str, bool]]
    error: str | None
    call: CallName | None


@dataclass(frozen=True, slots=True)
class TurnView:
    """A call between agents, or what an agent did by itself between two calls: folded, as `summary`."""

    summary: str | None
    failed: bool
    steps: list[StepView]


@dataclass(frozen=True, slots=True)
class WorkView:
    """The work of one trial, safe to display but for `record`. `failures`: each with its number.

    `whole`: where the texts stand that lost their middle.
    """

    record: RecordedWork
    whole: str
    task: str | None
    failures: list[tuple[str, int]]
    turns: list[TurnView]
    uses: Table


def work_view(work: RecordedWork, calls: Calls, *, played: bool) -> WorkView:
    """The work for display. `played`: in an assessment, which has a bundle."""
    return WorkView(
        record=work,
        whole="The bundle of the assessment has them whole." if played else "",
        task=visible(work.task).strip() or None,
        failures=[(failure_text(each), each.count) for each in work.failures],
        turns=list(_turns(work.said, calls)),
        uses=_uses(work.uses),
    )


def _turns(said: Sequence[SaidStep], calls: Calls) -> Iterator[TurnView]:
    """The steps in their order: each call alone, and what one agent did between two calls together."""
    for (kind, _), group in groupby(said, key=lambda step: (step.kind == "call", step.agent)):
        steps = list(group)
        views = [_step(each, calls) for each in steps]
        if kind:
            yield from (TurnView(None, view.error is not None, [view]) for view in views)
        else:
            yield TurnView(_summary(steps), any(each.error is not None for each in steps), views)


def _summary(steps: Sequence[SaidStep]) -> str:
    """`searcher: search 5 times, gpt-4o once`."""
    counts = Counter(on_one_line(step.name) for step in steps)
    times = ", ".join(f"{name} {'once' if n == 1 else f'{n} times'}" for name, n in counts.items())
    failed = sum(step.error is not None for step in steps)
    return f"{on_one_line(steps[0].agent)}: {times}" + (f"; {failed} failed" if failed else "")


def _step(step: SaidStep, calls: Calls) -> StepView:
    asked, answered = ("arguments", "result") if step.kind == "tool" else ("asked", "answered")
    who = ASSESSOR if step.agent == GREEN_AGENT else on_one_line(step.agent)
    facts = [duration(step.start_ms)] if step.start_ms is not None else []
    if step.duration_ms is not None:
        facts.append(f"for {duration(step.duration_ms)}")
    if step.tokens is not None:
        facts.append(counted(step.tokens, "token"))
    texts = ((label, text) for label, text in ((asked, step.input), (answered, step.output)) if text != step.error)
    return StepView(
        title=f"{who} {'→' if step.kind == 'call' else 'used'} {on_one_line(step.name)}",
        facts=", ".join(facts),
        texts=[_text(label, visible(text).strip()) for label, text in texts if text.strip()],
        error=None if step.error is None else on_one_line(step.error),
        call=calls.get(step.step_id),
    )


def _text(label: str, text: str) -> tuple[str, str, bool]:
    return label, text, len(text) > LONG or text.count("\n") > 8


def _uses(uses: Iterable[RecordedUse]) -> Table:
    columns = Column("Agent"), Column("Tool or model"), Column("Kind")
    numbers = number_columns("Calls", "Failed", "Repeated", "Tokens", "Time")
    rows = (
        (
            on_one_line(use.agent),
            on_one_line(use.name),
            use.kind,
            str(use.calls),
            Cell(str(use.failed), kind="bad" if use.failed else ""),
            count(use.repeated),
            count(use.tokens),
            duration(use.time_ms),
        )
        for use in uses
    )
    return table_of("Uses of tools and models", [*columns, *numbers], rows)

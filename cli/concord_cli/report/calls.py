"""The calls of the trials shown: a short name for each, and the table of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import CallRecord, TrialRecord
from concord.wire.roster import GREEN_AGENT
from concord_cli.display_text import on_one_line
from concord_cli.number_text import NONE, duration
from concord_cli.row_view.table import Cell, Column, Table, number_columns, table_of

MAX_CALLS: Final = 5000
"""Limit of the calls on one page, so that a browser opens it fast. Each trial can have a page of its own."""

ASSESSOR: Final = "the assessor"


@dataclass(frozen=True, slots=True)
class CallName:
    """The name of a call, `7` or (among several trials) `2.7`, and the HTML ids of its bar and its table row."""

    text: str
    bar: str
    row: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The calls on the page by step id, in order, and the HTML ids of the bars that are drawn."""

    calls: Mapping[str, CallName]
    bars: frozenset[str]


@dataclass(frozen=True, slots=True)
class StepLink:
    """A link to a call; `anchor`: the HTML id of its bar, or of its row if it has no bar."""

    name: CallName
    anchor: str


def caller_text(call: CallRecord) -> str:
    """The caller's name for display."""
    return ASSESSOR if call.caller == GREEN_AGENT else on_one_line(call.caller)


def name_calls(trials: Mapping[int, TrialRecord], *, single: bool) -> list[list[CallName]]:
    """The names of the calls of trials by number, in their order. They are numbers, since step ids are untrusted text.

    `single`: there is only one trial, so that a call's number suffices.
    """
    return [
        [_name(number, call, single=single) for call in range(1, len(record.calls) + 1)]
        for number, record in trials.items()
    ]


def _name(trial: int, call: int, *, single: bool) -> CallName:
    text = f"{call}" if single else f"{trial}.{call}"
    return CallName(text=text, bar=f"bar-{trial}-{call}", row=f"call-{trial}-{call}")


def by_step_id(trials: Iterable[TrialRecord], names: Iterable[Sequence[CallName]]) -> dict[str, CallName]:
    """The name of each call by its step id; the first call's, if two have the same id."""
    found: dict[str, CallName] = {}
    for trial, names_of_trial in zip(trials, names, strict=True):
        for call, name in zip(trial.calls, names_of_trial, strict=True):
            found.setdefault(call.step_id, name)
    return found


def links_to(step_ids: Iterable[str], listing: Listing) -> list[StepLink]:
    """Links to those of the steps that are listed, in the order of the list."""
    wanted = set(step_ids)
    found = [name for step_id, name in listing.calls.items() if step_id in wanted]
    return [StepLink(name, name.bar if name.bar in listing.bars else name.row) for name in found]


def table_of_calls(calls: Sequence[CallRecord], names: Sequence[CallName]) -> Table:
    """The calls of one trial as a table."""
    named = {call.step_id: name for call, name in zip(reversed(calls), reversed(names), strict=True)}
    columns = [
        *(*number_columns("Call"), Column("Caller"), Column("Callee")),
        *(*number_columns("Start", "Duration", optional=True), *number_columns("Within")),
        *(Column("Provenance"), Column("Remarks")),
    ]
    rows = (_row(call, name, named.get(call.parent_step_id or "")) for call, name in zip(calls, names, strict=True))
    return table_of("Calls of this trial", columns, rows)


def _row(call: CallRecord, name: CallName, parent: CallName | None) -> tuple[Cell | str, ...]:
    critical = "critical path" if call.on_critical_path else ""
    return (
        Cell(name.text, row_id=name.row),
        caller_text(call),
        on_one_line(call.callee),
        duration(call.start_ms),
        duration(call.duration_ms),
        Cell(NONE) if parent is None else Cell("", links=((parent.text, f"#{parent.row}"),)),
        call.provenance,
        Cell(critical) if call.error is None else Cell(on_one_line(call.error), critical, "✕", "bad"),
    )

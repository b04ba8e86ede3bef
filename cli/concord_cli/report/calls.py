"""The calls of the trials shown: a short name for each, and what a table says of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import CallRecord, TrialRecord
from concord.assessment.roster import GREEN_AGENT
from concord_cli.display_text import on_one_line
from concord_cli.report.number_text import duration

MAX_CALLS: Final = 5000
"""Calls listed on one page: beyond, a browser takes long to open it. Each trial can have a page of its own."""

ASSESSOR: Final = "the assessor"


@dataclass(frozen=True, slots=True)
class CallName:
    """What the page calls a call: `7`, or `2.7` among several trials, and the ids of its bar and its table row."""

    text: str
    bar: str
    row: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The calls on the page by step id, in their order, and the ids of those bars that are drawn."""

    calls: Mapping[str, CallName]
    bars: frozenset[str]


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call as a table has it, texts ready to be shown."""

    name: CallName
    parent: CallName | None
    caller: str
    callee: str
    start: str
    duration: str
    provenance: str
    error: str | None
    critical: bool


def caller_text(call: CallRecord) -> str:
    """Who called, in words."""
    return ASSESSOR if call.caller == GREEN_AGENT else on_one_line(call.caller)


def name_calls(trials: Sequence[TrialRecord], *, single: bool) -> list[list[CallName]]:
    """The names of each trial's calls, in the order of the calls. Made of numbers alone: step ids are others' text.

    `single`: there is no other trial to tell these calls apart from.
    """
    return [
        [_name(trial, call, single=single) for call in range(1, len(record.calls) + 1)]
        for trial, record in enumerate(trials, 1)
    ]


def _name(trial: int, call: int, *, single: bool) -> CallName:
    text = f"{call}" if single else f"{trial}.{call}"
    return CallName(text=text, bar=f"bar-{trial}-{call}", row=f"call-{trial}-{call}")


def by_step_id(trials: Iterable[TrialRecord], names: Iterable[Sequence[CallName]]) -> dict[str, CallName]:
    """The name of each call by its step id; the first, should two calls have the same."""
    found: dict[str, CallName] = {}
    for trial, names_of_trial in zip(trials, names, strict=True):
        for call, name in zip(trial.calls, names_of_trial, strict=True):
            found.setdefault(call.step_id, name)
    return found


def rows_of(calls: Sequence[CallRecord], names: Sequence[CallName]) -> list[CallRow]:
    """The calls of one trial as rows of a table."""
    named = {call.step_id: name for call, name in zip(reversed(calls), reversed(names), strict=True)}
    return [_row(call, name, named) for call, name in zip(calls, names, strict=True)]


def _row(call: CallRecord, name: CallName, named: Mapping[str, CallName]) -> CallRow:
    return CallRow(
        name=name,
        parent=named.get(call.parent_step_id) if call.parent_step_id is not None else None,
        caller=caller_text(call),
        callee=on_one_line(call.callee),
        start=duration(call.start_ms),
        duration=duration(call.duration_ms),
        provenance=call.provenance,
        error=None if call.error is None else on_one_line(call.error),
        critical=call.on_critical_path,
    )

"""Why the answer of one trial is wrong: its failures by cause, seat and fact."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.team_results import PartFailure, TeamTaskRecord
from concord.assessment.verdict import WITHOUT_FACTS
from concord_cli.display_text import named, on_one_line
from concord_cli.report.calls import CallName

MAX_LINES: Final = 60
"""Limit of the lines of a table of failures."""

MAX_FACTS: Final = 4
"""Limit of the facts and seats that a line names."""

MAX_CALL_LINKS: Final = 6
"""Limit of the messages to which a line links."""


@dataclass(frozen=True, slots=True)
class FailureLine:
    """The failures of one trial that have the same cause, seats and facts."""

    parts: str
    cause: str
    seats: str
    facts: str
    calls: list[CallName]


@dataclass(frozen=True, slots=True)
class FailureRows:
    """The failures of one trial. `left_out` counts those that are not listed."""

    lines: list[FailureLine]
    left_out: int


def failures_in(record: TeamTaskRecord, calls: Mapping[str, CallName]) -> FailureRows:
    """The failures of one trial, in the order of the record."""
    alike: defaultdict[tuple[str, tuple[str, ...], str], list[PartFailure]] = defaultdict(list)
    for failure in record.failures:
        alike[failure.cause, tuple(failure.seats), _facts(failure)].append(failure)
    groups = list(alike.values())
    lines = [_failure_line(failures, calls) for failures in groups[:MAX_LINES]]
    return FailureRows(lines, sum(map(len, groups[MAX_LINES:])) + max(0, record.failures_omitted))


def _failure_line(failures: Sequence[PartFailure], calls: Mapping[str, CallName]) -> FailureLine:
    first = failures[0]
    return FailureLine(
        parts=_listed(list(dict.fromkeys(failure.part for failure in failures))),
        cause=named(first.cause),
        seats=_either(first.seats),
        facts=_facts(first),
        calls=_links((failure.step_id for failure in failures), calls),
    )


def _links(step_ids: Iterable[str | None], calls: Mapping[str, CallName]) -> list[CallName]:
    known = dict.fromkeys(step for step in step_ids if step is not None and step in calls)
    return [calls[step] for step in known][:MAX_CALL_LINKS]


def _facts(failure: PartFailure) -> str:
    return "" if failure.cause in WITHOUT_FACTS else _listed(failure.facts, failure.facts_omitted)


def _either(seats: Sequence[str]) -> str:
    more = [f"{len(seats) - MAX_FACTS} more"] if len(seats) > MAX_FACTS else []
    return " or ".join([*map(on_one_line, seats[:MAX_FACTS]), *more])


def _listed(texts: Sequence[str], omitted: int = 0) -> str:
    rest = max(0, len(texts) - MAX_FACTS) + max(0, omitted)
    more = [f"and {rest:,} more"] if rest else []
    return ", ".join([*map(on_one_line, texts[:MAX_FACTS]), *more])

"""Why answers are wrong: the failures of all trials by class and seat, and those of one trial by seat and fact."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Final

from concord.assessment.results import TrialRecord
from concord.assessment.team_results import PartFailure, TeamTaskRecord
from concord_cli.display_text import named, on_one_line
from concord_cli.number_text import percent
from concord_cli.report.calls import CallName
from concord_cli.row_text.team_tasks import WITHOUT_FACTS

MAX_LINES: Final = 60
"""Limit of the lines of a table of failures."""

MAX_FACTS: Final = 4
"""Limit of the facts and seats that a line names."""

MAX_CALL_LINKS: Final = 6
"""Limit of the messages to which a line links."""

MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "not_sent": "the seat told nobody what its brief states",
        "misdirected": "the seat told only seats that could not use it",
        "not_passed_on": "the seat was told, and did not tell the next",
        "changed": "the seat told something else than it knew",
        "contradicted": "the seat told the fact, and then another value of it",
        "invented": "the seat told a value that stands in no brief and follows from none",
        "truncated": "the seat's message was cut off before the fact",
        "too_late": "the seat told it too late",
        "answered_early": "the seat answered before it could know what it needed",
        "not_used": "the seat could know everything that it needed, and its answer is wrong",
        "unreadable": "the reply or answer does not have the required form",
        "no_answer": "the seat could know everything that it needed, and did not answer",
        "agent_failed": "the seat's agent failed",
    }
)


@dataclass(frozen=True, slots=True)
class CauseLine:
    """Failures of one class at the same seats. `parts`: the wrong parts; `width`: of a bar in proportion to them."""

    seats: str
    facts: str
    parts: int
    width: str
    tasks: str
    calls: list[CallName]


@dataclass(frozen=True, slots=True)
class CauseClass:
    """All failures of one class, with the most wrong parts first."""

    title: str
    meaning: str
    lines: list[CauseLine]


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


def classes_of(trials: Sequence[TrialRecord], calls: Mapping[str, CallName]) -> tuple[list[CauseClass], int]:
    """The classes of failures over all trials of teams, and the number of lines that are left out."""
    found: defaultdict[tuple[str, tuple[str, ...]], list[tuple[TrialRecord, PartFailure]]] = defaultdict(list)
    for trial, record in played(trials):
        for failure in record.failures:
            found[failure.cause, tuple(failure.seats)].append((trial, failure))
    most = max(map(_wrong_parts, found.values()), default=1)
    totals: defaultdict[str, int] = defaultdict(int)
    for (cause, _), failures in found.items():
        totals[cause] += _wrong_parts(failures)
    ranked = sorted(found.items(), key=lambda each: (-totals[each[0][0]], each[0][0], -_wrong_parts(each[1]), each[0]))
    listed = [(cause, _cause_line(seats, failures, most, calls)) for (cause, seats), failures in ranked[:MAX_LINES]]
    classes = [
        CauseClass(named(cause), MEANINGS[cause], [line for _, line in lines])
        for cause, lines in groupby(listed, key=lambda each: each[0])
    ]
    return classes, len(ranked) - len(listed)


def failures_in(record: TeamTaskRecord, calls: Mapping[str, CallName]) -> FailureRows:
    """The failures of one trial, in the order of the record."""
    alike: defaultdict[tuple[str, tuple[str, ...], str], list[PartFailure]] = defaultdict(list)
    for failure in record.failures:
        alike[failure.cause, tuple(failure.seats), _facts(failure)].append(failure)
    groups = list(alike.values())
    lines = [_failure_line(failures, calls) for failures in groups[:MAX_LINES]]
    return FailureRows(lines, sum(map(len, groups[MAX_LINES:])) + max(0, record.failures_omitted))


def played(trials: Iterable[TrialRecord]) -> list[tuple[TrialRecord, TeamTaskRecord]]:
    """The trials in which a team did a family's task, without controls."""
    pairs = ((trial, trial.team_task) for trial in trials)
    return [(trial, record) for trial, record in pairs if record is not None and record.control is None]


def _wrong_parts(failures: Iterable[tuple[TrialRecord, PartFailure]]) -> int:
    return len({(trial.trial_id, failure.part) for trial, failure in failures})


def _cause_line(
    seats: Sequence[str],
    failures: Sequence[tuple[TrialRecord, PartFailure]],
    most: int,
    calls: Mapping[str, CallName],
) -> CauseLine:
    cause, n = failures[0][1].cause, _wrong_parts(failures)
    facts = dict.fromkeys(fact for _, failure in failures for fact in failure.facts)
    omitted = sum(failure.facts_omitted for _, failure in failures)
    return CauseLine(
        seats=_either(seats),
        facts="" if cause in WITHOUT_FACTS else _listed(list(facts), omitted),
        parts=n,
        width=percent(n / most),
        tasks=_listed(list(dict.fromkeys(trial.task_id for trial, _ in failures))),
        calls=_links((failure.step_id for _, failure in failures), calls),
    )


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

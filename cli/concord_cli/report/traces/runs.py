"""Many traces: the facts of each, totals per agent and pair of agents, shapes, and what groups differ in. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from statistics import fmean
from typing import Final, TypeVar

from concord.assessment.outcome import outcome_of
from concord.assessment.result_row import ResultRow
from concord.assessment.results import CallRecord, TrialRecord
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.statistics import compare_unpaired

Edge = tuple[str, str]
"""Caller and callee."""

MAX_TASK: Final = 200
"""Characters that are kept of a task."""

_Key = TypeVar("_Key", str, Edge)
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class EdgeFacts:
    """The calls of one pair of agents in one trace. `durations_ms`: of those calls whose duration is known."""

    calls: int
    failed: int
    durations_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the page needs of a trace, so that its row need not stay in memory.

    `number`: its place in the file, from 1 on. `agent`, `error`, `handled`: of the failure that ended the run,
    else of its first failure; None, "" and False without any. `tokens`: by agent, of the model calls
    that tell them. `took_s`: from its first to its last time.
    """

    number: int
    trace_id: str
    task: str
    outcome: str
    agent: str | None
    error: str
    handled: bool
    started_at: datetime | None
    version: str | None
    label: str | None
    score: float | None
    took_s: float
    edges: Mapping[Edge, EdgeFacts]
    tokens: Mapping[str, int]

    @classmethod
    def of(cls, number: int, row: ResultRow) -> "RunFacts":
        """The facts of the row at that place."""
        durations: dict[Edge, list[float]] = {}
        for call in (call for trial in row.detail.trials for call in trial.calls):
            if call.duration_ms is not None:
                durations.setdefault(_ends(call), []).append(call.duration_ms)
        calls: Counter[Edge] = Counter()
        failed: Counter[Edge] = Counter()
        tokens: Counter[str] = Counter()
        for trial in row.detail.trials:
            for pair in trial.interactions:
                if GREEN_AGENT not in (pair.caller, pair.callee):
                    calls[pair.caller, pair.callee] += pair.calls
                    failed[pair.caller, pair.callee] += pair.errors
            for use in trial.uses:
                tokens[use.agent] += use.tokens
        work = next((trial.work for trial in row.detail.trials if trial.work is not None), None)
        failure = work.failures[0] if work is not None and work.failures else None
        error = next((trial.error for trial in row.detail.trials if trial.error is not None), "")
        return cls(
            number=number,
            trace_id=row.detail.assessment_id,
            task="" if work is None else work.task[:MAX_TASK],
            outcome=", ".join(dict.fromkeys(map(_outcome, row.detail.trials))) or "not judged",
            agent=None if failure is None else failure.agent,
            error=error if failure is None else failure.error,
            handled=failure is not None and failure.handled,
            started_at=row.detail.started_at,
            version=row.detail.version,
            label=row.detail.coordination_quality,
            score=row.score,
            took_s=row.time_used,
            edges={
                edge: EdgeFacts(calls[edge], failed[edge], tuple(durations.get(edge, ()))) for edge in sorted(calls)
            },
            tokens=dict(tokens),
        )

    @property
    def calls(self) -> int:
        """The calls between agents."""
        return sum(each.calls for each in self.edges.values())

    @property
    def failed(self) -> int:
        """Those of them that failed."""
        return sum(each.failed for each in self.edges.values())


def _outcome(trial: TrialRecord) -> str:
    """`failed`, or `not judged (failed)` where the run crashed and nobody judged what it brought."""
    word = outcome_of(trial).lower()
    return word if trial.state == "completed" or word == "failed" else f"{word} ({trial.state})"


def _ends(call: CallRecord) -> Edge:
    return call.caller, call.callee


# Totals and shapes.


@dataclass(slots=True)
class Totals:
    """Calls, failures, and the known durations (ms).

    `tokens` is None where the traces tell none that are surely theirs. `traces`: in which there was such a call.
    """

    calls: int = 0
    failed: int = 0
    traces: int = 0
    tokens: int | None = None
    durations_ms: list[float] = field(default_factory=list)

    def take(self, facts: EdgeFacts) -> None:
        """Adds the calls of one trace."""
        self.calls += facts.calls
        self.failed += facts.failed
        self.durations_ms += facts.durations_ms

    def duration_ms(self, share: float) -> float | None:
        """The duration that this share of the calls does not exceed; None without any."""
        return percentile(sorted(self.durations_ms), share)


@dataclass(frozen=True, slots=True)
class Shape:
    """The traces with calls between the same pairs of agents. `example`: the id of the one of median duration."""

    edges: tuple[Edge, ...]
    traces: int
    with_failures: int
    p50_s: float
    example: str


def agents_in(runs: Iterable[RunFacts]) -> dict[str, Totals]:
    """By agent, the calls that it got, and its own tokens. Those that most calls went to come first."""
    gathered: defaultdict[str, Totals] = defaultdict(Totals)
    for run in runs:
        for agent in sorted({end for edge in run.edges for end in edge} | run.tokens.keys()):
            gathered[agent].traces += 1
            if agent in run.tokens:
                gathered[agent].tokens = (gathered[agent].tokens or 0) + run.tokens[agent]
        for (_, callee), facts in run.edges.items():
            gathered[callee].take(facts)
    return _ranked(gathered)


def edges_in(runs: Iterable[RunFacts]) -> dict[Edge, Totals]:
    """By pair of agents, its calls; those with the most calls first.

    The tokens of a callee belong to the pair in traces in which nobody else called the callee; elsewhere nobody
    knows which call took them.
    """
    gathered: defaultdict[Edge, Totals] = defaultdict(Totals)
    for run in runs:
        callers = Counter(callee for _, callee in run.edges)
        for edge, facts in run.edges.items():
            gathered[edge].traces += 1
            gathered[edge].take(facts)
            if callers[edge[1]] == 1 and edge[1] in run.tokens:
                gathered[edge].tokens = (gathered[edge].tokens or 0) + run.tokens[edge[1]]
    return _ranked(gathered)


def shapes_in(runs: Iterable[RunFacts]) -> list[Shape]:
    """The shapes, the most frequent first."""
    alike: defaultdict[tuple[Edge, ...], list[RunFacts]] = defaultdict(list)
    for run in runs:
        alike[tuple(run.edges)].append(run)
    shapes = [_shape(edges, members) for edges, members in alike.items()]
    return sorted(shapes, key=lambda shape: (-shape.traces, shape.edges))


def percentile(values: Sequence[float], share: float) -> float | None:
    """The least of the sorted values that this share of them (0 to 1, not 0) does not exceed; None of none."""
    return values[ceil(share * len(values)) - 1] if values else None


def _ranked(gathered: Mapping[_Key, Totals]) -> dict[_Key, Totals]:
    return dict(sorted(gathered.items(), key=lambda item: (-item[1].calls, item[0])))


def _shape(edges: tuple[Edge, ...], members: Sequence[RunFacts]) -> Shape:
    ordered = sorted(members, key=lambda run: (run.took_s, run.trace_id))
    middle = ordered[(len(ordered) - 1) // 2]
    failures = sum(run.failed > 0 for run in members)
    return Shape(edges, len(members), failures, middle.took_s, middle.trace_id)


# Groups.


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the traces. `name`: as the page calls it."""

    name: str
    runs: tuple[RunFacts, ...]


@dataclass(frozen=True, slots=True)
class Division:
    """Two groups; `left_out` counts the traces in neither."""

    first: Group
    second: Group
    left_out: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The means of a measure over the traces of two groups; `low`, `high`: an interval at 95 % of second minus first.

    The interval is None for groups of fewer than six traces.
    """

    measure: str
    first: float
    second: float
    low: float | None
    high: float | None

    @property
    def sure(self) -> bool:
        """Whether the interval excludes no difference."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def by_version(runs: Sequence[RunFacts]) -> Division | None:
    """The two versions with the most traces, the one that began earlier first; None for fewer versions."""
    return _two_of(runs, "version", lambda run: run.version)


def by_label(runs: Sequence[RunFacts]) -> Division | None:
    """The two labels of coordination with the most traces, the one that began earlier first; None for fewer labels."""
    return _two_of(runs, "label", lambda run: run.label)


def by_date(runs: Sequence[RunFacts], at: datetime | None = None) -> Division | None:
    """The traces before a time, and those since; without one, before and since the time of the median trace.

    None if one of the groups is empty.
    """
    dated = sorted((run for run in runs if run.started_at is not None), key=_began)
    if not dated:
        return None
    cut = at or _began(dated[len(dated) // 2])
    before, since = ([run for run in dated if (_began(run) < cut) is early] for early in (True, False))
    if not before or not since:
        return None
    when = f"{cut:%Y-%m-%d %H:%M}"
    groups = Group(f"before {when}", tuple(before)), Group(f"since {when}", tuple(since))
    return Division(*groups, len(runs) - len(dated))


def differences(division: Division) -> list[Difference]:
    """What the groups differ in: failures, calls, time and tokens of a trace."""
    measures: list[tuple[str, Callable[[RunFacts], float], tuple[float, float] | None]] = [
        ("traces with a failed call, %", lambda run: 100.0 * (run.failed > 0), (0.0, 100.0)),
        ("calls of a trace", lambda run: float(run.calls), None),
        ("failed calls of a trace", lambda run: float(run.failed), None),
        ("time of a trace, s", lambda run: run.took_s, None),
    ]
    groups = division.first.runs, division.second.runs
    if all(any(run.tokens for run in runs) for runs in groups):
        measures.append(("tokens of a trace", lambda run: float(sum(run.tokens.values())), None))
    if all(all(run.score is not None for run in runs) for runs in groups):
        measures.append(("score", lambda run: run.score or 0.0, (0.0, 100.0)))
    return [_difference(name, scale, *([of(run) for run in runs] for runs in groups)) for name, of, scale in measures]


def edge_differences(division: Division) -> dict[Edge, tuple[float, float]]:
    """By pair of agents, the share of failed calls in each group; the pairs that differ most first.

    Only pairs with calls in both groups.
    """
    first, second = (_failing(group.runs) for group in (division.first, division.second))
    shares = {edge: (first[edge], second[edge]) for edge in first.keys() & second.keys()}
    return dict(sorted(shares.items(), key=lambda item: (-abs(item[1][1] - item[1][0]), item[0])))


def _two_of(runs: Sequence[RunFacts], what: str, of: Callable[[RunFacts], str | None]) -> Division | None:
    counts = Counter(name for run in runs if (name := of(run)) is not None)
    if len(counts) < 2:
        return None
    names = sorted(counts, key=lambda name: (-counts[name], name))[:2]
    groups = [Group(f"{what} {name}", tuple(run for run in runs if of(run) == name)) for name in names]
    first, second = sorted(groups, key=lambda group: (min(map(_began, group.runs)), group.name))
    return Division(first, second, len(runs) - len(first.runs) - len(second.runs))


def _began(run: RunFacts) -> datetime:
    return _NEVER if run.started_at is None else run.started_at


def _difference(
    measure: str, scale: tuple[float, float] | None, first: Sequence[float], second: Sequence[float]
) -> Difference:
    """The means, and the interval of their difference. `scale`: the least and the greatest value that there may be."""
    low, high = compare_unpaired(first, second, scale=scale) or (None, None)
    return Difference(measure, fmean(first), fmean(second), low, high)


def _failing(runs: Iterable[RunFacts]) -> dict[Edge, float]:
    calls: Counter[Edge] = Counter()
    failed: Counter[Edge] = Counter()
    for run in runs:
        for edge, facts in run.edges.items():
            calls[edge] += facts.calls
            failed[edge] += facts.failed
    return {edge: failed[edge] / count for edge, count in calls.items() if count}

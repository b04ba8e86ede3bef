"""Two groups of traces, and what they differ in: by version, by date, or by the label of coordination. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import Final

from concord_cli.report.traces.facts import Edge, RunFacts
from concord_evaluator.statistics import compare_unpaired

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


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

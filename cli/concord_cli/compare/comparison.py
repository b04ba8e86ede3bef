"""A comparison of teams on the tasks that they share: the JSON document, and how it is computed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, groupby
from math import ceil
from statistics import fmean
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from concord.assessment.result_row import Basis, RankingKind
from concord.assessment.results import LatencySummary
from concord.assessment.verdict import Estimate
from concord_cli.compare.changes import VersionChange, change_between
from concord_cli.compare.teams import CODE, Team, kind_value
from concord_cli.display_text import counted
from concord_cli.exits import INCOMPLETE, WORSE
from concord_evaluator.statistics import (
    LEVEL,
    ComparisonVerdict,
    Ranks,
    compare_paired,
    confidence_in,
    detectable_difference,
    likely_spread,
    mean_interval,
    pairs_to_show,
    ranks,
    rate_interval,
    tie_groups,
)

PairVerdict = ComparisonVerdict | Literal["observability differs"]

EXIT_CODES: Final[Mapping[PairVerdict, int]] = {
    "better": 0,
    "not worse": 0,
    "worse": WORSE,
    "no difference shown": INCOMPLETE,
    "too few tasks": INCOMPLETE,
    "observability differs": INCOMPLETE,
}
"""Of a comparison of two teams, or of two versions."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TeamLine(_Record):
    """One team on its own tasks: its scores, and the ranks that it may have among the teams of its kind.

    `ranking_kind`: the digest of its kind, as if it were complete, null before version 3; `shared_process`: also its
    kind, whether several of its seats share one process; `unjudged`: how many of `trials` are unjudged, which count
    as 0. `information`, `economy`, `lift`: the figures beside the score, the last from -1 to 1. `reference`: whether it
    is the sample agent, which has no rank.
    """

    name: str
    file: str
    ranking_kind: str | None
    complete: bool
    shared_process: bool
    information: Estimate | None
    economy: Estimate | None
    lift: Estimate | None
    reference: bool
    rank_best: int | None
    rank_worst: int | None
    score: float
    score_low: float | None
    score_high: float | None
    passed: int
    pass_rate: float | None
    pass_rate_low: float | None
    pass_rate_high: float | None
    tasks: int
    trials: int
    unjudged: int
    infrastructure_failures: int
    confidence: Literal["insufficient", "low", "adequate"]
    latency_avg_ms: float | None


class PairLine(_Record):
    """Two teams of one kind on the tasks that they share: `difference` is the second's score less the first's.

    `paired_trials`: the puzzles that both played; without any, their means on each task are compared. `detectable`: the
    least difference that so many tasks would probably show. `expected`: the same, foretold from the first team's scores
    alone. `runs_for_ten`: runs of each shared task that would show ten points. `verdict`: on the second team.
    """

    first: str
    second: str
    shared_tasks: int
    paired_trials: int
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    detectable: float | None
    expected: float | None
    runs_for_ten: int | None
    verdict: PairVerdict


class Comparison(_Record):
    """The comparison. `groups`: teams of a kind of which none is shown to be better than another; groups may overlap.

    `level`: of the teams' intervals, and of all differences together; `pair_level`: of each difference (Bonferroni).
    """

    scoring_version: str
    basis: Basis
    level: float
    pair_level: float
    teams: list[TeamLine]
    pairs: list[PairLine]
    groups: list[list[str]]
    warnings: list[str]
    change: VersionChange | None = None
    """Of exactly two teams, in the order in which they were given."""

    @property
    def exit_code(self) -> int:
        """Of two teams, as in `EXIT_CODES`, and 3 for two of different kinds; of more, 0."""
        if self.change is None:
            return 0
        return EXIT_CODES[self.pairs[0].verdict] if self.pairs else INCOMPLETE


TWO: Final = 2
"""Teams between which tasks and causes are compared, too."""

LATENCY: Final = LatencySummary().warning


def compare_teams(teams: Sequence[Team], margin: float | None = None) -> Comparison:
    """Compares each team with each of its kind, sorted by the mean score over a team's own tasks, then by information
    and economy, best first; two teams stay in their order.

    The sample agent stands among the teams of its kind and is compared with none. A kind is a ranking kind, whether
    complete or not; teams whose seats share one process are kinds of their own, and
    come last. The intervals of the differences hold together at `LEVEL` (Bonferroni). `margin`: a loss, from 0 to 1,
    that passes as `not worse`.
    """
    ordered = _ordered(teams)
    kinds = [[team for team in kind if not team.reference] for _, kind in groupby(ordered, key=_kind)]
    together = [pair for kind in kinds for pair in combinations(kind, 2)]
    level = 1 - (1 - LEVEL) / max(1, len(together))
    pairs = [_pair(first, second, level, margin) for first, second in together]
    better = [winner for pair in pairs if (winner := _better(pair)) is not None]
    names = [[team.name for team in kind] for kind in kinds]
    placed = {name: place for kind in names for name, place in ranks(kind, _among(kind, better)).items()}
    return Comparison(
        scoring_version=ordered[0].kind.version,
        basis=ordered[0].kind.basis,
        level=LEVEL,
        pair_level=level,
        teams=[_line(team, placed.get(team.name)) for team in ordered],
        pairs=pairs,
        groups=[group for kind in names for group in tie_groups(kind, _among(kind, better))],
        warnings=list(_warnings(ordered, pairs)),
        change=change_between(*teams) if _are_versions(teams) else None,
    )


def _are_versions(teams: Sequence[Team]) -> bool:
    """Whether two teams are compared with each other alone."""
    return len(teams) == TWO and not any(team.reference for team in teams)


def _ordered(teams: Sequence[Team]) -> list[Team]:
    """Kind by kind, best first; two teams as they were given, so that a difference is one from the first to the
    second."""
    if _are_versions(teams):
        kinds = list(dict.fromkeys(map(_kind, teams)))
        return sorted(teams, key=lambda team: kinds.index(_kind(team)))
    return sorted(teams, key=lambda team: (_kind(team), *_place(team), team.name))


def _among(names: Sequence[str], better: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in better if pair[0] in names]


def _kind(team: Team) -> tuple[bool, str]:
    return team.shared_process, "" if team.ranking is None else team.ranking.digest


def _place(team: Team) -> tuple[float, float, float]:
    """Ascending, the better the team; figures that a team does not have come last."""
    information, economy = (-1.0 if each is None else each.value for each in (team.information, team.economy))
    return -round(_score(team), 3), -information, -economy


def _score(team: Team) -> float:
    return fmean(_values(team))


def _values(team: Team) -> list[float]:
    return [score for seeds in team.scores.values() for runs in seeds.values() for score in runs]


TEN: Final = 0.1
"""The difference of ten points of which a comparison says how many runs would show it."""


def _pair(first: Team, second: Team, level: float, margin: float | None) -> PairLine:
    found = compare_paired(first.scores, second.scores, level)
    interval = None if found is None else found.interval
    tasks = 0 if found is None else found.shared_tasks
    likely = likely_spread([fmean(map(fmean, seeds.values())) for seeds in first.scores.values() if seeds])
    spread = likely if found is None or found.spread is None else found.spread
    expected = detectable_difference(likely, tasks, level)
    return PairLine(
        first=first.name,
        second=second.name,
        shared_tasks=tasks,
        paired_trials=0 if found is None else found.paired_trials,
        difference=None if found is None else 100 * found.difference,
        difference_low=None if interval is None else 100 * max(-1.0, interval.low),
        difference_high=None if interval is None else 100 * min(1.0, interval.high),
        detectable=None if found is None or found.detectable is None else 100 * found.detectable,
        expected=None if expected is None else 100 * expected,
        runs_for_ten=ceil(pairs_to_show(TEN, spread, level) / tasks) if tasks else None,
        verdict="too few tasks"
        if found is None
        else "observability differs"
        if _seen_apart(first, second)
        else found.verdict(margin),
    )


def _seen_apart(first: Team, second: Team) -> bool:
    """Whether calls could be seen of one team that could not be seen of the other."""
    seen = {first.observability, second.observability} - {None}
    return len(seen) > 1


def _better(pair: PairLine) -> tuple[str, str] | None:
    if pair.verdict == "worse":
        return pair.first, pair.second
    return (pair.second, pair.first) if pair.verdict == "better" else None


def _line(team: Team, placed: Ranks | None) -> TeamLine:
    clusters = [task for task, seeds in team.scores.items() for runs in seeds.values() for _ in runs]
    interval = mean_interval(_values(team), clusters, scale=(0.0, 1.0))
    rate = rate_interval(sum(team.passed), len(team.passed)) if len(team.passed) > 1 else None
    same: dict[str, Any] = {name: getattr(team, name) for name in _SAME}
    return TeamLine(
        **same,
        ranking_kind=None if team.ranking is None else team.ranking.digest,
        complete=not team.incomplete,
        rank_best=None if placed is None else placed.best,
        rank_worst=None if placed is None else placed.worst,
        score=100 * _score(team),
        score_low=None if interval is None else 100 * max(0.0, interval.low),
        score_high=None if interval is None else 100 * min(1.0, interval.high),
        passed=sum(team.passed),
        pass_rate=100 * sum(team.passed) / len(team.passed),
        pass_rate_low=None if rate is None else 100 * rate.low,
        pass_rate_high=None if rate is None else 100 * rate.high,
        tasks=len(team.scores),
        trials=len(team.passed),
        confidence=confidence_in(interval, len(team.scores)),
    )


_SAME: Final = (
    *("name", "file", "shared_process", "information", "economy", "lift", "reference", "unjudged"),
    *("infrastructure_failures", "latency_avg_ms"),
)
"""What a line has as its team has it."""


def _ranked_apart(teams: Sequence[Team]) -> Iterator[str]:
    """By which fields the ranking kinds of the teams differ."""
    stated = {team.ranking: team.name for team in reversed(teams)}
    if len(stated) < 2:
        return
    known = [each for each in stated if each is not None]
    fields = [name for name in RankingKind.model_fields if len({getattr(each, name) for each in known}) > 1]
    if None in stated:
        fields.append("rows without a ranking kind")
    described = "; ".join(
        f"{name} ({', '.join(f'{team.name}: {kind_value(team.ranking, name)}' for team in teams if team.ranking)})"
        if name in RankingKind.model_fields
        else name
        for name in fields
    )
    yield f"The teams are of different ranking kinds, are ranked apart and not compared. They differ by: {described}."


def _of_pairs(pairs: Iterable[PairLine]) -> Iterator[str]:
    """Which teams played different puzzles, and which cannot be told apart from how they were observed."""
    for pair in pairs:
        if pair.shared_tasks and not pair.paired_trials:
            yield (
                f"{pair.first} and {pair.second} played different puzzles of the same tasks: their means on each task "
                "are compared, not puzzle by puzzle."
            )
        if pair.verdict == "observability differs":
            yield (
                f"{pair.first} and {pair.second} were observed differently: the difference may be one of what could be "
                "seen, so neither is called better."
            )


def _unpaired(teams: Sequence[Team]) -> Iterator[str]:
    """How many recordings have no counterpart in another team, and of how many of them the text tells nothing."""
    for team in teams if teams[0].kind.basis == "recorded" else ():
        others = {task for other in teams if other is not team for task in other.scores}
        alone = {task: sum(map(len, seeds.values())) for task, seeds in team.scores.items() if task not in others}
        if alone:
            alike = sum(n for task, n in alone.items() if task in team.ambiguous)
            why = f", {alike} because several have the same task text and no `concord.task_id`" if alike else ""
            yield f"{team.name}: {counted(sum(alone.values()), 'trace')} in no pair{why}."


def _warnings(teams: Sequence[Team], pairs: Sequence[PairLine]) -> Iterator[str]:
    """Warnings about the figures."""
    yield from _ranked_apart(teams)
    yield from _of_pairs(pairs)
    yield from _unpaired(teams)
    if len({team.shared_process for team in teams}) > 1:
        yield (
            "Teams whose seats share one process are ranked apart and not compared with others: their messages are "
            "proven, but not that the process forgot in one seat what it learned in another."
        )
    if len({frozenset(team.scores) for team in teams}) > 1:
        yield "The teams have different tasks: a score is over a team's own tasks, a difference over the shared tasks."
    if len(rules := {rule for team in teams for rule in team.rules}) > 1:
        yield (
            "The scores have different pass marks or weights, so the teams are not the only reason for differences: "
            + "; ".join(sorted(rules))
        )
    judges = {judge for team in teams for judge in team.judges}
    if len({team.judges for team in teams}) > 1 or len(judges - {CODE}) > 1:
        yield f"The outcomes have different judges: {', '.join(sorted(judges))}."
    for team in teams:
        if team.unjudged:
            count = "counts" if team.unjudged == 1 else "count"
            yield f"{team.name}: {counted(team.unjudged, 'unjudged trial')} {count} as 0."
        if team.incomplete:
            yield f"{team.name}: its row is not complete, and leaderboards refuse it."
        if missing := team.missing_shards:
            yield f"{team.name}: shards are missing, so leaderboards do not rank it: {', '.join(map(str, missing))}."
        if team.lost:
            has, count = ("has", "It counts") if team.lost == 1 else ("have", "They count")
            lost = f"{counted(team.lost, 'trial')} {has} no evaluation. {count}"
            yield f"{team.name}: {lost} as 0 in the team's row, and not in this comparison."
        if failures := team.infrastructure_failures:
            yield f"{team.name}: {counted(failures, 'failure')} of the infrastructure."
    if any(team.latency_avg_ms is not None for team in teams):
        yield LATENCY

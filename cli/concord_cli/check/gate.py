"""The gate: all pairs so far, the verdict that they support, and the result of a check as a JSON document."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Literal

from concord.assessment.result_row import ResultRow
from concord_cli.check.pairs import Pair, Slot
from concord_cli.compare.changes import CauseChange, Causes, Change, Effort, TaskChange, efforts, task_changes
from concord_cli.compare.comparison import EXIT_CODES, Comparison, PairVerdict
from concord_cli.compare.teams import Team
from concord_cli.exits import WORSE
from concord_evaluator.statistics import (
    ALPHA,
    LEVEL,
    Bounds,
    ComparisonVerdict,
    bounds_of,
    change_verdict,
    detectable_difference,
    fewest_tasks,
    pairs_needed,
)


@dataclass(slots=True)
class Gate:
    """Collects pairs until they show a verdict. `margin`: the loss that is accepted, in (0, 1)."""

    margin: float
    pairs: list[Pair] = field(default_factory=list)
    old: list[ResultRow] = field(default_factory=list)
    new: list[ResultRow] = field(default_factory=list)
    verdict: ComparisonVerdict = "no difference shown"
    """What the pairs have shown. It stays shown, for the test is valid at any pair; only `not worse` may become
    `better`."""
    _passed_at: int = 0

    def add(self, pairs: Iterable[Pair]) -> None:
        """Takes pairs into account."""
        self.pairs += pairs
        now = change_verdict(self._lows, self._highs, self.margin)
        if self.verdict == "no difference shown":
            self.verdict, self._passed_at = now, len(self.pairs)
        elif self.verdict == "not worse" and now == "better":
            self.verdict = now

    @property
    def is_sure(self) -> bool:
        """Whether to stop. A version that gains more than the margin plays up to twice the pairs, to be `better`."""
        if self.verdict == "not worse" and (self.difference or 0.0) > self.margin:
            return len(self.pairs) >= 2 * self._passed_at
        return self.verdict != "no difference shown"

    def is_of(self, tasks: int) -> bool:
        """Whether pairs of so many different tasks can show anything. If not, this is the verdict."""
        if tasks < fewest_tasks():
            self.verdict = "too few tasks"
        return self.verdict != "too few tasks"

    @property
    def bounds(self) -> Bounds:
        """Between which the mean difference is shown to be."""
        return bounds_of(self._lows, self._highs)

    @property
    def difference(self) -> float | None:
        """The mean difference of the pairs that are known; None without any."""
        known = self._known
        return fmean(known) if known else None

    @property
    def pairs_needed(self) -> int | None:
        """How many pairs a verdict probably takes, judged by those that are known; None if that cannot be told."""
        needed = pairs_needed(self._known, self.margin)
        return None if needed is None else max(needed, len(self.pairs) + 1)

    @property
    def detectable(self) -> float | None:
        """The least difference that so many pairs probably show. Reading the test after each pair takes twice as many
        as a test of a fixed number. None for pairs that are all the same, as they are for fewer than two."""
        known = self._known
        return detectable_difference(stdev(known), len(known) // 2) if len(set(known)) > 1 else None

    @property
    def score(self) -> float | None:
        """The mean score of the new version, from 0 to 1; what nobody judged counts 0."""
        return fmean(pair.new.low for pair in self.pairs) if self.pairs else None

    @property
    def _known(self) -> Sequence[float]:
        return [pair.low for pair in self.pairs if pair.known]

    @property
    def _lows(self) -> list[float]:
        return [pair.low for pair in self.pairs]

    @property
    def _highs(self) -> list[float]:
        return [pair.high for pair in self.pairs]


Judged = PairVerdict | Literal["below the least score"]


class PairResult(Change):
    """The same puzzle in both versions: scores from 0 to 100, null if nobody judged it."""

    task: str
    run: int
    old: float | None
    new: float | None


class CheckResult(Change):
    """Whether the new version is worse than the old one.

    `difference`: new minus old in points, over the pairs that both versions were judged in; `low`, `high`: while the
    check plays, bounds of it, each of which is wrong with a chance of at most `alpha`, at whatever pair it stopped; of
    finished results (`finished`), the interval over tasks, both of whose ends together are wrong with that chance.
    `detectable`: the least difference that so much would probably show. `pairs_needed`: how many pairs a verdict would
    probably take, null if it is given or cannot be told; `unknown`: pairs that nobody judged in one of the versions;
    `score`: of the new version.
    """

    verdict: Judged
    margin: float
    alpha: float
    least_score: float | None
    difference: float | None
    low: float
    high: float
    detectable: float | None
    finished: bool
    pairs: list[PairResult]
    unknown: int
    pairs_needed: int | None
    score: float | None
    tasks: list[TaskChange]
    causes: list[CauseChange]
    efforts: list[Effort]

    @property
    def exit_code(self) -> int:
        """0: not worse; 3: nothing is shown; 5: worse, or below the least score."""
        return WORSE if self.verdict == "below the least score" else EXIT_CODES[self.verdict]


def result_of(gate: Gate, least_score: float | None) -> CheckResult:
    """The result over all pairs. `least_score`: from 0 to 100; a new version below it fails, even a better one."""
    bounds, score, verdict = gate.bounds, gate.score, gate.verdict
    known = [pair for pair in gate.pairs if pair.known]
    return CheckResult(
        verdict=_judged(verdict, None if score is None else 100 * score, least_score),
        margin=100 * gate.margin,
        alpha=ALPHA,
        least_score=least_score,
        difference=None if gate.difference is None else 100 * gate.difference,
        low=100 * bounds.low,
        high=100 * bounds.high,
        detectable=None if gate.detectable is None else 100 * gate.detectable,
        finished=False,
        pairs=[
            PairResult(
                task=pair.slot.task,
                run=pair.slot.run,
                old=100 * pair.old.low if pair.old.low == pair.old.high else None,
                new=100 * pair.new.low if pair.new.low == pair.new.high else None,
            )
            for pair in gate.pairs
        ],
        unknown=len(gate.pairs) - len(known),
        pairs_needed=gate.pairs_needed if verdict == "no difference shown" else None,
        score=None if score is None else 100 * score,
        tasks=task_changes((pair.slot.task, pair.old.low, pair.new.low, pair.known) for pair in gate.pairs),
        causes=Causes.of(gate.old, _trials(gate)).changed_to(Causes.of(gate.new)),
        efforts=efforts(gate.old, gate.new),
    )


def result_of_finished(comparison: Comparison, old: Team, new: Team, margin: float, least: float | None) -> CheckResult:
    """The result over two results files, whose comparison has a pair. `margin`: from 0 to 1; `least`: from 0 to 100."""
    [pair], change = comparison.pairs, comparison.change
    assert change is not None  # nosec B101  # noqa: S101 - of two teams
    score = next(line.score for line in comparison.teams if line.name == new.name)
    unknown = sum(team.unjudged + team.lost for team in (old, new))
    verdict = pair.verdict
    if unknown and verdict in {"better", "not worse"}:
        verdict = "no difference shown"  # what nobody scored helps no version
    played = [(task, puzzle) for task in old.scores for puzzle in old.scores[task].keys() & new.scores.get(task, {})]
    return CheckResult(
        verdict=_judged(verdict, score, least),
        margin=100 * margin,
        alpha=1 - LEVEL,
        least_score=least,
        difference=pair.difference,
        low=-100 if pair.difference_low is None else pair.difference_low,
        high=100 if pair.difference_high is None else pair.difference_high,
        detectable=pair.detectable,
        finished=True,
        pairs=[
            PairResult(
                task=task,
                run=number,
                old=100 * fmean(old.scores[task][puzzle]),
                new=100 * fmean(new.scores[task][puzzle]),
            )
            for number, (task, puzzle) in enumerate(sorted(played), start=1)
        ],
        unknown=unknown,
        pairs_needed=None,
        score=score,
        tasks=change.tasks,
        causes=change.causes,
        efforts=change.efforts,
    )


def _judged(verdict: PairVerdict, score: float | None, least: float | None) -> Judged:
    below = least is not None and score is not None and score < least
    return "below the least score" if below and verdict != "worse" else verdict


def _trials(gate: Gate) -> dict[str, frozenset[str]]:
    """The trials of the old version that were paired, by assessment."""
    slots = {pair.slot for pair in gate.pairs}
    return {
        row.detail.assessment_id: frozenset(
            trial.trial_id for trial in row.detail.trials if Slot(trial.task_id, trial.run) in slots
        )
        for row in gate.old
    }

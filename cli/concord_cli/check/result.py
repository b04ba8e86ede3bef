"""The result of a check, as a JSON document."""

from statistics import fmean
from typing import Literal

from concord_cli.check.gate import Gate
from concord_cli.check.pairs import Slot
from concord_cli.compare.changes import CauseChange, Causes, Change, Effort, TaskChange, efforts, task_changes
from concord_cli.compare.comparison import EXIT_CODES, Comparison, PairVerdict
from concord_cli.compare.teams import Team
from concord_cli.exits import WORSE
from concord_evaluator.statistics import ALPHA, LEVEL

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

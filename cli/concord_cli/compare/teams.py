"""The teams to compare: what results files say of each, and what keeps their scores from being compared."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from concord.assessment import Mode
from concord.results import ResultRow, TrialRecord
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.report.text import shortened
from concord_cli.rows import read_rows
from concord_evaluator.statistics import Scores

MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class Team:
    """The results of one file: its usable trials that have a score, by task and seed.

    `rules`: by which version, weights and pass mark they were scored; `judges`: who judged them.
    """

    name: str
    file: str
    scores: Scores
    passed: tuple[bool, ...]
    infrastructure_failures: int
    latencies_ms: tuple[tuple[float, int], ...]
    rules: frozenset[str]
    judges: frozenset[str]

    @property
    def latency_avg_ms(self) -> float | None:
        """Over all calls of all rows."""
        calls = sum(n for _, n in self.latencies_ms)
        return sum(average * n for average, n in self.latencies_ms) / calls if calls else None


def read_teams(paths: Sequence[Path]) -> list[Team]:
    """A team for each results file, named by it. Raises UsageError, AssessmentError for one without a score."""
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("one results file is given twice")
    stems = [shortened(path.stem, MAX_NAME) for path in paths]
    names = stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
    return [_team(name, path, read_rows(path)) for name, path in zip(names, paths, strict=True)]


def _team(name: str, path: Path, rows: Sequence[ResultRow]) -> Team:
    scores: defaultdict[str, defaultdict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    passed: list[bool] = []
    for task, trial in _scored(rows):
        scores[task][trial.seed].append(trial.overall_score or 0.0)
        passed.append(trial.passed is True)
    if not scores:
        raise AssessmentError(f"{path}: no trial in it has a score")
    latencies = [(row.detail.latency_metrics.avg, row.detail.latency_metrics.n) for row in rows]
    return Team(
        name=name,
        file=str(path),
        scores=scores,
        passed=tuple(passed),
        infrastructure_failures=sum(len(row.detail.infrastructure) for row in rows),
        latencies_ms=tuple((average, n) for average, n in latencies if average is not None),
        rules=frozenset(map(_rules, rows)),
        judges=frozenset(_judges(rows)),
    )


def _scored(rows: Iterable[ResultRow]) -> Iterator[tuple[str, TrialRecord]]:
    """The trials that count, each with its task. Of recorded traces each is a task, named by its id."""
    for row in rows:
        for trial in row.detail.trials:
            if trial.usable and trial.overall_score is not None:
                recorded = row.detail.mode is Mode.RECORDED
                yield row.detail.assessment_id if recorded else trial.task_id, trial


def _rules(row: ResultRow) -> str:
    scoring = row.detail.scoring
    weights = ", ".join(f"{part.id} {part.weight:g}" for part in scoring.sub_scores)
    return f"version {scoring.version}, pass mark {scoring.pass_threshold:g}, weights {weights}"


def _judges(rows: Iterable[ResultRow]) -> Iterator[str]:
    judgments = (trial.judge for row in rows for trial in row.detail.trials)
    return (each.model or each.source for each in judgments if each is not None)

"""The teams to compare, read from results files, and whether their scores can be compared."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from pydantic import BaseModel

from concord.assessment import Mode
from concord.assessment.result_row import Basis, ControlRecord, Figure, RankingKind, ResultRow
from concord.assessment.results import Observability, TrialRecord
from concord.assessment.verdict import Estimate
from concord_cli.display_text import on_one_line, shortened
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import is_recording
from concord_cli.evaluate.rows import rows_of
from concord_cli.row_view.score import UNWEIGHTED
from concord_evaluator.expectations import Expectations
from concord_evaluator.formats.trace import shortened_id
from concord_evaluator.offline import TASK_ID
from concord_evaluator.statistics import Scores

MAX_NAME = 40

CODE: Final = "code"
"""The judge of a task with a scorer: the same for every team that has the task."""

_JUDGES: Final = {"code": CODE, "recorded": "the file", "nobody": None}


class ScoreKind(NamedTuple):
    """What comparable scores have in common: the version of the rules, and what the scores rest on."""

    version: str
    basis: Basis

    def __str__(self) -> str:
        return f"version {shortened(self.version, MAX_NAME)} on {self.basis}"


@dataclass(frozen=True, slots=True)
class Team:
    """The results of one file: the scores of its usable trials, by task and puzzle.

    `unjudged`: how many of these trials are unjudged, which count as 0; `lost`: how many further trials have no
    evaluation, so that the row does not name their tasks; `rules`: the pass marks and weights; `judges`: who judged;
    `ranking`: the kind that its rows state, None before version 3; its `complete` is always true, and `incomplete` says
    whether a row is not;
    `information`, `economy`, `lift`: the figures of its rows over the trials that have them, with an interval if there
    is one row; `shared_process`: whether one participant takes several seats in any of the trials; `reference`: whether
    it is the sample agent, which is shown and not ranked; `observability`: the most that any of the rows says could be
    seen of calls, None if there was nothing to observe; `rows`: all of them; `ambiguous`: tasks of recorded traces
    without an id whose text another trace has as well.
    """

    name: str
    file: str
    kind: ScoreKind
    scores: Scores
    passed: tuple[bool, ...]
    unjudged: int
    lost: int
    infrastructure_failures: int
    latencies_ms: tuple[tuple[float, int], ...]
    rules: frozenset[str]
    judges: frozenset[str]
    ranking: RankingKind | None = None
    incomplete: bool = False
    information: Estimate | None = None
    economy: Estimate | None = None
    lift: Estimate | None = None
    shared_process: bool = False
    reference: bool = False
    observability: Observability | None = None
    rows: tuple[ResultRow, ...] = ()
    ambiguous: frozenset[str] = frozenset()

    @property
    def latency_avg_ms(self) -> float | None:
        """Over all calls of all rows."""
        calls = sum(n for _, n in self.latencies_ms)
        return sum(average * n for average, n in self.latencies_ms) / calls if calls else None

    @property
    def missing_shards(self) -> list[int]:
        """The shards of the assessment of which it has no row. Rows of earlier versions do not say."""
        stated = [row.detail.shard for row in self.rows if row.detail.shard is not None]
        planned = range(max((each.num_shards for each in stated), default=0))
        return sorted(set(planned) - {each.shard_index for each in stated})


def read_teams(
    results: Sequence[Path], references: Sequence[Path] = (), expected: Expectations | None = None
) -> list[Team]:
    """A team for each results file, file of traces or folder of recordings, named after it. `references`: the files of
    the sample agent. `expected`: answers of the recordings.

    Raises UsageError, also if the scores are of different kinds or a row has planted faults; AssessmentError for a team
    without a score.
    """
    paths = [*results, *references]
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("a results file is given twice: give each file once")
    stems = [shortened(path.stem, MAX_NAME) for path in paths]
    names = stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
    if expected is not None and not any(map(is_recording, paths)):
        raise UsageError("--expect has answers of recordings, and these are results files: evaluate their traces again")
    rows = {path: [_compared(row) for row in rows_of(path, expected)] for path in paths}
    if harmed := [str(path) for path, of_file in rows.items() if any(row.detail.planted_faults for row in of_file)]:
        raise UsageError(f"rows with planted faults are never ranked: {', '.join(harmed)}")
    kind, repeated = _common_kind(rows), _repeated_texts(rows.values())
    return [
        _team(name, path, rows[path], kind, repeated, reference=number >= len(results))
        for number, (name, path) in enumerate(zip(names, paths, strict=True))
    ]


def _compared(row: ResultRow) -> ResultRow:
    """The row without its other lists, which no comparison reads either. They take much memory."""
    trials = [
        _without_lists(trial).model_copy(
            update={
                "team_task": trial.team_task and _without_lists(trial.team_task),
                "work": trial.work and _without_lists(trial.work),
            }
        )
        for trial in row.detail.trials
    ]
    detail = _without_lists(row.detail, kept="infrastructure").model_copy(update={"trials": trials})
    return row.model_copy(update={"detail": detail})


_Record = TypeVar("_Record", bound=BaseModel)


def _without_lists(record: _Record, kept: str = "") -> _Record:
    lists = {name: type(value)() for name, value in record if isinstance(value, list | tuple) and name != kept}
    return record.model_copy(update=lists)


def _common_kind(rows: Mapping[Path, Sequence[ResultRow]]) -> ScoreKind:
    """The kind of all scores; rows of shards without trials do not count. Raises UsageError, AssessmentError."""
    kinds = {path: {_kind(row) for row in of_file if row.detail.trials} for path, of_file in rows.items()}
    if empty := [path for path, found in kinds.items() if not found]:
        raise AssessmentError(f"{empty[0]}: it contains no trial with a score")
    common = set.union(*kinds.values())
    if len(common) > 1:
        listed = (f"{path}: {' and '.join(sorted(map(str, found)))}" for path, found in kinds.items())
        raise UsageError(f"scores of different versions or on different bases cannot be compared: {'; '.join(listed)}")
    return common.pop()


def _kind(row: ResultRow) -> ScoreKind:
    return ScoreKind(row.detail.scoring.version, row.detail.scoring.basis)


def _team(
    name: str, path: Path, rows: Sequence[ResultRow], kind: ScoreKind, repeated: frozenset[str], *, reference: bool
) -> Team:
    scores: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    counted = list(_counted(rows, repeated))
    if all(each.trial.overall_score is None for each in counted):
        traces = any(row.detail.mode is Mode.RECORDED for row in rows)
        unjudged = "all of its trials are unjudged" + (": --expect FILE gives the expected answers" if traces else "")
        raise AssessmentError(f"{path}: {unjudged if counted else 'it contains no trial with a score'}")
    for task, puzzle, trial in counted:
        scores[task][puzzle].append(trial.overall_score or 0.0)
    n_unjudged = sum(each.trial.overall_score is None for each in counted)
    latencies = [(row.detail.latency_metrics.avg, row.detail.latency_metrics.n) for row in rows]
    return Team(
        name=name,
        file=str(path),
        kind=kind,
        scores=scores,
        passed=tuple(each.trial.passed is True for each in counted),
        unjudged=n_unjudged,
        lost=max(0, sum(row.detail.scoring.unjudged for row in rows) - n_unjudged),
        infrastructure_failures=sum(len(row.detail.infrastructure) for row in rows),
        latencies_ms=tuple((average, n) for average, n in latencies if average is not None),
        rules=frozenset(_rules(row) for row in rows if row.detail.trials),
        judges=frozenset(_judges(rows)),
        ranking=_ranking(path, rows),
        incomplete=not all(row.detail.scoring.complete for row in rows),
        information=_mean(map(_figure, (row.detail.scoring.information for row in rows))),
        economy=_mean(map(_figure, (row.detail.scoring.economy for row in rows))),
        lift=_mean(map(_lift, (row.detail.scoring.lift for row in rows))),
        shared_process=any(_shares_process(each.trial) for each in counted),
        reference=reference,
        observability=most_observed(rows),
        rows=tuple(rows),
        ambiguous=frozenset(each.task for each in counted if _text(each.trial) in repeated),
    )


def _ranking(path: Path, rows: Sequence[ResultRow]) -> RankingKind | None:
    """The ranking kind of a file's rows. Raises UsageError for rows of several."""
    first, *others = dict.fromkeys(ranking_kind(row) for row in rows if row.detail.trials)
    for other in others:
        fields = "version" if first is None or other is None else ", ".join(first.differing(other))
        raise UsageError(f"{path}: its rows are of different ranking kinds, by: {fields}")
    return first


def ranking_kind(row: ResultRow) -> RankingKind | None:
    """The ranking kind as if it were complete; None in rows before version 3."""
    stated = row.detail.scoring.ranking_parts
    return stated and stated.model_copy(update={"complete": True})


def kind_value(kind: RankingKind, field: str) -> str:
    """A value of a ranking kind as text: names in full, and enough of a digest."""
    value = getattr(kind, field)
    return " and ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)[:MAX_NAME]


_Weighted = tuple[Estimate, int]
"""A figure of a row, and the trials that have it."""


def _figure(figure: Figure | None) -> _Weighted | None:
    return None if figure is None else (Estimate(value=figure.value, low=figure.low, high=figure.high), figure.trials)


def _lift(lift: ControlRecord | None) -> _Weighted | None:
    return None if lift is None else (Estimate(value=lift.gap, low=lift.gap_low, high=lift.gap_high), lift.trials)


def _mean(figures: Iterable[_Weighted | None]) -> Estimate | None:
    """The mean over all trials that have the figure. An interval holds for the row that it came with."""
    known = [each for each in figures if each is not None]
    trials = sum(n for _, n in known)
    if len(known) == 1:
        return known[0][0]
    return Estimate(value=sum(each.value * n for each, n in known) / trials) if trials else None


class _Counted(NamedTuple):
    """A trial that counts, with its task and its puzzle."""

    task: str
    puzzle: str
    trial: TrialRecord


def _text(trial: TrialRecord) -> str:
    """The text of a recorded task without an id; "" if it is not known."""
    return "" if trial.task_id != TASK_ID or trial.work is None else trial.work.task.strip()


def _repeated_texts(files: Iterable[Sequence[ResultRow]]) -> frozenset[str]:
    """The texts of recorded tasks without ids that several traces of a file have, so that they pair no traces."""
    texts = (Counter(filter(None, (_text(trial) for row in rows for trial in row.detail.trials))) for rows in files)
    return frozenset(text for counts in texts for text, n in counts.items() if n > 1)


def _task(row: ResultRow, trial: TrialRecord, repeated: frozenset[str]) -> str:
    """The name of a trial's task. A recorded trace has the id of its task, else the task's text if no other trace has
    it as well, else its own id."""
    if row.detail.mode is not Mode.RECORDED or trial.task_id != TASK_ID:
        return trial.task_id
    text = _text(trial)
    return shortened_id(on_one_line(text)) if text and text not in repeated else row.detail.assessment_id


def _counted(rows: Iterable[ResultRow], repeated: frozenset[str]) -> Iterator[_Counted]:
    """The trials that count.

    An unscored trial counts if the row's own score counts it; rows of version 1 do not.
    Trials of controls do not count.
    """
    for row in rows:
        for trial in row.detail.trials:
            if (
                trial.usable
                and not trial.is_control
                and (trial.overall_score is not None or row.detail.scoring.unjudged)
            ):
                yield _Counted(_task(row, trial, repeated), _puzzle(row, trial), trial)


def _puzzle(row: ResultRow, trial: TrialRecord) -> str:
    """What a trial played, the same in rows that played the same; in rows without digests, by secret and seed."""
    if trial.instance_digest is None:
        return f"{row.detail.task_secret_sha256} {trial.seed}"
    return f"{trial.instance_digest} {trial.run}"


_MORE_SEEN: Final[tuple[Observability | None, ...]] = (None, "none", "partly", "full")


def most_observed(rows: Iterable[ResultRow]) -> Observability | None:
    """The most that any of the rows says could be seen of calls; None if there was nothing to observe."""
    return max((row.detail.trace_integrity.observability for row in rows), key=_MORE_SEEN.index, default=None)


def _shares_process(trial: TrialRecord) -> bool:
    return trial.team_task is not None and trial.team_task.shared_process


def _rules(row: ResultRow) -> str:
    scoring = row.detail.scoring
    weights = ", ".join(f"{part.id} {part.weight:g}" for part in scoring.sub_scores if part.id not in UNWEIGHTED)
    return f"pass mark {scoring.pass_threshold:g}" + (f", weights {weights}" if weights else "")


def _judges(rows: Iterable[ResultRow]) -> Iterator[str]:
    judges = (_judge(trial) for row in rows for trial in row.detail.trials)
    return (each for each in judges if each is not None)


def _judge(trial: TrialRecord) -> str | None:
    """The judge of a trial's outcome; in rows of version 1, the judge of the trial."""
    judge = None if trial.judge is None else trial.judge.model or trial.judge.source
    if trial.grading is None:
        return judge
    return judge if trial.grading.source == "model" else _JUDGES[trial.grading.source]

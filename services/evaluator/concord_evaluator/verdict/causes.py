"""The causes over all trials of a row: equal ones are one with a count, ranked by the points that they cost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from concord.assessment.results import TrialRecord
from concord.assessment.verdict import MAX_CAUSES, MAX_EVIDENCE, MAX_NAMED, Cause, CauseKind, Certainty, Evidence
from concord_assistant.results import AssessmentResults
from concord_evaluator.verdict.assistants import causes_of_assistant
from concord_evaluator.verdict.calls import causes_in_calls
from concord_evaluator.verdict.found import NEGLIGIBLE, Found, explained, lost_in
from concord_evaluator.verdict.recorded import causes_in_record
from concord_evaluator.verdict.team_tasks import causes_of_team_task

_BY_SOURCE: Mapping[str, Certainty] = {"model": "judged", "recorded": "observed"}


@dataclass(frozen=True, slots=True)
class Ranked:
    """The causes that cost the most, how many others there are, and the points of these."""

    causes: list[Cause]
    left_out: int
    points_left_out: float


def ranked_causes(trials: Iterable[TrialRecord], results: Mapping[str, AssessmentResults], planned: int) -> Ranked:
    """The causes of all that the usable trials of a team lost, in points of a score over `planned` trials."""
    groups: dict[tuple[CauseKind, tuple[str, ...], str | None], _Group] = {}
    for trial in trials:
        for found in causes_in(trial, results.get(trial.trial_id)):
            key = found.kind, found.agents, found.part
            groups.setdefault(key, _Group(found)).add(found, trial)
    causes = sorted((group.cause(max(planned, 1)) for group in groups.values()), key=_rank)
    others = causes[MAX_CAUSES:]
    return Ranked(causes[:MAX_CAUSES], len(others), fsum(each.points or 0.0 for each in others))


def causes_in(trial: TrialRecord, results: AssessmentResults | None) -> list[Found]:
    """What a judged trial lost points by. What nothing explains is `unexplained`, so that each lost point counts.

    Of a trace from a file that nobody judged, what failed in it.
    """
    lost = lost_in(trial)
    if lost <= NEGLIGIBLE or trial.grading is None:
        return causes_in_record(trial) if trial.overall_score is None else []
    found = explained(_shown(trial, results, lost), lost)
    rest = lost - fsum(each.points or 0.0 for each in found)
    return found if rest <= NEGLIGIBLE else [*found, _unexplained(trial, rest)]


def _shown(trial: TrialRecord, results: AssessmentResults | None, lost: float) -> list[Found]:
    if trial.team_task is not None:
        return causes_of_team_task(trial.team_task, lost)
    if results is not None:
        return causes_of_assistant(trial, results)
    return list(map(_of_record, trial.causes)) or causes_in_record(trial, lost) or causes_in_calls(trial)


def _of_record(cause: Cause) -> Found:
    """A cause that the evaluation of the trial found in its messages."""
    return Found(
        kind=cause.kind,
        agents=tuple(cause.agents),
        certainty=cause.certainty,
        points=cause.points,
        part=cause.part,
        count=cause.count,
        steps=tuple(cause.steps),
        evidence=tuple(cause.evidence),
    )


def _unexplained(trial: TrialRecord, points: float) -> Found:
    grading = trial.grading
    answers = [] if grading is None else [each for each in grading.answers if each.value < 1]
    reasons = [trial.error, None if grading is None else grading.reason]
    return Found(
        kind=CauseKind.UNEXPLAINED,
        agents=(),
        certainty=_BY_SOURCE.get("" if grading is None else grading.source, "proven"),
        points=points,
        part=trial.task_id,
        count=max(1, len(answers)),
        evidence=(
            *(Evidence(text=each.explanation, agent=each.agent) for each in answers),
            *(Evidence(text=reason) for reason in reasons if reason),
            *_not_listed(trial),
        ),
    )


def _not_listed(trial: TrialRecord) -> Iterator[Evidence]:
    """Says that a trial has more causes than its record lists."""
    record = trial.team_task
    if record is not None and (n := record.failures_omitted + record.unproven_omitted):
        yield Evidence(text=f"{n:,} further causes are not in the row")


@dataclass(slots=True)
class _Group:
    """Equal causes of several trials."""

    first: Found
    points: list[float] = field(default_factory=list)
    count: int = 0
    tasks: dict[str, None] = field(default_factory=dict)
    trials: dict[str, None] = field(default_factory=dict)
    steps: dict[str, None] = field(default_factory=dict)
    evidence: dict[tuple[str, str | None], Evidence] = field(default_factory=dict)

    def add(self, found: Found, trial: TrialRecord) -> None:
        if found.points is not None:
            self.points.append(found.points)
        self.count += found.count
        self.tasks[trial.task_id] = None
        self.trials[trial.trial_id] = None
        self.steps |= dict.fromkeys(found.steps)
        for each in found.evidence:
            self.evidence.setdefault((each.text, each.agent), each)

    def cause(self, planned: int) -> Cause:
        """The cause, in points of a score over that many trials."""
        return Cause(
            kind=self.first.kind,
            agents=list(self.first.agents),
            part=self.first.part,
            certainty=self.first.certainty,
            points=min(100.0, fsum(self.points) / planned) if self.points else None,
            count=self.count,
            tasks=_first(self.tasks),
            trials=_first(self.trials),
            trials_count=len(self.trials),
            steps=_first(self.steps),
            evidence=list(self.evidence.values())[:MAX_EVIDENCE],
            evidence_omitted=max(0, len(self.evidence) - MAX_EVIDENCE),
        )


def _first(names: Iterable[str]) -> list[str]:
    return list(names)[:MAX_NAMED]


_KINDS: Sequence[CauseKind] = list(CauseKind)


def _rank(cause: Cause) -> tuple[float, int, list[str], str]:
    """Those that cost most first; then the order of the kinds, and names."""
    return -(cause.points or 0.0), _KINDS.index(cause.kind), cause.agents, cause.part or ""

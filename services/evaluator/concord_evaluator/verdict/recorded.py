"""What failed in a trace from a file: observed, with its part in the outcome unknown."""

from typing import Final

from concord.assessment.recorded_work import RecordedFailure
from concord.assessment.results import TrialRecord
from concord.assessment.verdict import CauseKind, Evidence
from concord_evaluator.verdict.found import Found

_KINDS: Final = {
    "run": CauseKind.RUN_FAILED,
    "agent": CauseKind.CALLS_FAILED,
    "call": CauseKind.CALLS_FAILED,
    "tool": CauseKind.TOOL_FAILED,
    "model": CauseKind.MODEL_FAILED,
    "step": CauseKind.EXCEPTION,
}


def causes_in_record(trial: TrialRecord, lost: float = 0.0) -> list[Found]:
    """The failures that the trace tells, those of one agent and place together. None for a trial that was played.

    A run that ended with an error lost all the points that were `lost`.
    """
    if trial.work is None:
        return []
    groups: dict[tuple[CauseKind, str, str | None], list[RecordedFailure]] = {}
    for failure in trial.work.failures:
        kind, part = _kind(failure), failure.name if failure.where in {"tool", "model"} else None
        groups.setdefault((kind, failure.agent, part), []).append(failure)
    return [
        Found(
            kind=kind,
            agents=(agent,),
            certainty="observed",
            points=lost if lost and kind is CauseKind.RUN_FAILED and trial.state == "failed" else None,
            part=part,
            count=sum(each.count for each in found),
            steps=tuple(step for each in found for step in each.step_ids),
            evidence=tuple(Evidence(text=each.error, step_id=each.step_ids[0]) for each in found),
        )
        for (kind, agent, part), found in groups.items()
    ]


def _kind(failure: RecordedFailure) -> CauseKind:
    if failure.nature == "refusal":
        return CauseKind.REFUSED
    return CauseKind.EXCEPTION if failure.nature == "exception" else _KINDS[failure.where]

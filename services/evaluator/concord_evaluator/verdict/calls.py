"""What the calls of a trial show where nothing else explains its loss: the agents whose calls failed."""

from collections import Counter, defaultdict

from concord.assessment.results import TrialRecord
from concord.assessment.verdict import CauseKind, Evidence
from concord_evaluator.verdict.found import Found


def causes_in_calls(trial: TrialRecord) -> list[Found]:
    """The agents that calls between agents failed at. Nobody can tell what that cost."""
    failed = Counter[str]()
    for link in trial.interactions:
        failed[link.callee] += link.errors
    steps, errors = defaultdict[str, list[str]](list), defaultdict[str, dict[str, str]](dict)
    for call in trial.calls:
        if call.error is not None:
            steps[call.callee].append(call.step_id)
            errors[call.callee].setdefault(call.error, call.step_id)
    return [
        Found(
            kind=CauseKind.CALLS_FAILED,
            agents=(agent,),
            certainty="observed",
            count=count,
            steps=tuple(steps[agent]),
            evidence=tuple(Evidence(text=text, step_id=step_id) for text, step_id in errors[agent].items()),
        )
        for agent, count in failed.items()
        if count > 0
    ]

"""Infrastructure failures: everything that went wrong and is not the agents' fault, once each."""

from collections.abc import Iterable, Sequence

from concord.assessment import AssessmentPlan
from concord.assessment.results import InfrastructureFailure
from concord_evaluator.aggregate.trials import EvaluatedTrial
from concord_evaluator.documents import JudgedTrial


def infrastructure_failures(
    plan: AssessmentPlan,
    told: Sequence[InfrastructureFailure],
    verdicts: Iterable[JudgedTrial],
    trials: Sequence[EvaluatedTrial],
) -> list[InfrastructureFailure]:
    """What the driver of the trials told, what became of their evaluation, and trials nobody says anything of.

    That a trial's evaluation was given up is forgotten where it came after all.
    """
    evaluated = {trial.record.trial_id for trial in trials}
    failures = [failure for failure in told if failure.trial_id not in evaluated or failure.stage == "trial"]
    failures += [verdict.failure for verdict in verdicts if verdict.failure is not None]
    explained = evaluated | {failure.trial_id for failure in failures}
    failures += [
        InfrastructureFailure(trial_id=trial.trial_id, stage="evaluation", message="it was not evaluated")
        for trial in plan.trials
        if trial.trial_id not in explained
    ]
    return list(dict.fromkeys(failures))

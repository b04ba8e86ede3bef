"""The causes of what an assistant's trial lost: the harm that it did, else the criteria that it did not meet."""

from concord.assessment.results import TrialRecord
from concord.assessment.verdict import CauseKind, Evidence
from concord_assistant.results import AssessmentResults
from concord_evaluator.verdict.found import Found


def causes_of_assistant(trial: TrialRecord, results: AssessmentResults) -> list[Found]:
    """The vetoes, each with an equal part of all points, else the criteria that lost points in one trial.

    Criteria whose checks failed are in no sum.
    """
    possible = results.scores.overall.max_score
    agents = () if trial.grading is None else tuple(each.agent for each in trial.grading.answers)
    if results.safety is not None and results.vetoed:
        vetoes = results.safety.vetoes
        return [
            Found(
                kind=CauseKind.VETO,
                agents=agents,
                part=veto.item,
                certainty="proven",
                points=100 / len(vetoes),
                evidence=(Evidence(text=f"{veto.explanation} ({veto.call} in turn {veto.turn})"),),
            )
            for veto in vetoes
        ]
    return [
        Found(
            kind=CauseKind.CRITERION,
            agents=agents,
            part=each.name,
            certainty="judged" if each.method == "model" else "proven",
            points=100 * each.lost / possible if possible else None,
            evidence=(Evidence(text=each.explanation),) if each.explanation else (),
        )
        for each in results.criteria_results
        if each.lost > 0
    ]

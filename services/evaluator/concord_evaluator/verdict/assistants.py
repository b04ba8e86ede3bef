"""The causes of what an assistant's trial lost: the harm that it did, else the criteria that it did not meet."""

from collections.abc import Iterable, Iterator

from concord.assessment.results import TrialRecord, observation_text
from concord.assessment.verdict import CauseKind, Evidence
from concord_assistant.results import AssessmentResults
from concord_evaluator.verdict.found import Found
from concord_evaluator.verdict.lost_parts import steps_of


def causes_of_assistant(trial: TrialRecord, results: AssessmentResults) -> list[Found]:
    """The vetoes, each with an equal part of all points, else the criteria that lost points in one trial.

    Each shows the observations that are tied to it. Criteria whose checks failed are in no sum.
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
                evidence=(
                    Evidence(text=f"{veto.explanation} ({veto.call} in turn {veto.turn})"),
                    *_observed(trial, CauseKind.VETO, [veto.action] if veto.action else []),
                ),
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
            evidence=(
                *([Evidence(text=each.explanation)] if each.explanation else []),
                *_observed(trial, CauseKind.CRITERION, each.actions),
            ),
        )
        for each in results.criteria_results
        if each.lost > 0
    ]


def _observed(trial: TrialRecord, kind: CauseKind, actions: Iterable[int]) -> Iterator[Evidence]:
    """What was observed in these actions, with the last quote."""
    steps = steps_of(actions)
    for each in trial.observations:
        if each.cause is kind and not steps.isdisjoint(each.steps):
            quote = f": {each.evidence[-1].text}" if each.evidence else ""
            yield Evidence(text=f"observed: {observation_text(each)}{quote}", step_id=each.steps[-1])

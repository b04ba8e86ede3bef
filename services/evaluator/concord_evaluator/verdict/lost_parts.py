"""What an assistant lost, with the actions that show it, as observations are tied to it."""

from collections.abc import Iterable

from concord.assessment.verdict import CauseKind
from concord_assistant.results import AssessmentResults
from concord_evaluator.observations import LostPart


def lost_parts_of(results: AssessmentResults, assistant: str) -> list[LostPart]:
    """The vetoes, and the criteria that lost points, each with the steps of the actions that its evidence names."""
    vetoes = [] if results.safety is None else results.safety.vetoes
    parts = [
        *((CauseKind.VETO, steps_of([each.action] if each.action else [])) for each in vetoes),
        *((CauseKind.CRITERION, steps_of(each.actions)) for each in results.criteria_results),
    ]
    return [LostPart(kind, frozenset({assistant}), steps) for kind, steps in parts if steps]


def steps_of(actions: Iterable[int]) -> frozenset[str]:
    """The ids that `acts_of_actions` gives the steps of actions at these places in the action log."""
    return frozenset(f"action-{place}" for place in actions)

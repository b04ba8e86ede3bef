"""Evidence for tests of the judge."""

from concord_evaluator.judge import Evidence
from concord_evaluator.judge.evidence import SeenCall


def seen(
    step_id: str = "s1",
    *,
    request: str = "Please count the trees in the park.",
    response: str = "There are 12 trees.",
    error: str = "",
) -> SeenCall:
    """One call from agent 1 to agent 2."""
    return SeenCall(step_id, "agent 1", "agent 2", request, response, error)


def evidence(*calls: SeenCall, answer: str = "The park has 12 trees.", condensed: bool = False) -> Evidence:
    """Evidence of these calls (without any: one harmless one)."""
    return Evidence(calls or (seen(),), "Count the trees.", answer, condensed)

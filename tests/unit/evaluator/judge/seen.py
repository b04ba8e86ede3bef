"""Evidence for tests of the judge."""

from collections.abc import Sequence

from concord_evaluator.judge import Aliases, SeenAnswer, TrialEvidence
from concord_evaluator.judge.evidence import SeenCall


def seen(
    number: int = 1,
    *,
    request: str = "Please count the trees in the park.",
    response: str = "There are 12 trees.",
    error: str = "",
    step_id: str | None = None,
) -> SeenCall:
    """A call from agent 1 (Ann) to agent 2 (Bob)."""
    return SeenCall(f"call {number}", step_id or f"s{number}", "agent 1", "agent 2", request, response, error)


def evidence(
    *calls: SeenCall,
    answer: str = "The park has 12 trees.",
    answers: Sequence[SeenAnswer] | None = None,
    condensed: bool = False,
    agents: Sequence[str] = ("ann", "bob"),
    target: Sequence[str] = (),
) -> TrialEvidence:
    """Evidence of these calls (by default one harmless call), and of Ann's answer or of the given answers."""
    given = (SeenAnswer(("ann",), answer),) if answers is None else tuple(answers)
    return TrialEvidence(calls or (seen(),), "Count the trees.", given, condensed, Aliases(agents), tuple(target))

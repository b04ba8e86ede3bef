"""The final answers of a trial: which count, which the judge is asked about, and their grades."""

from collections.abc import Mapping, Sequence
from typing import Final

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.results import AgentAnswer, GradedAnswer, TrialOutcome
from concord_evaluator.judge.evidence import SeenAnswer
from concord_evaluator.pipeline.score_inputs import answerers

MAX_ANSWERS: Final = 8
"""The maximum number of different answers in one prompt."""

NO_ANSWER: Final = "There is no answer."
_FAULTS: Final = {"failed": "The agent failed.", "timeout": "The agent did not answer in time."}


def answers_of(plan: AssessmentPlan, outcome: TrialOutcome) -> tuple[SeenAnswer, ...]:
    """The answers that count for a trial. Raises KeyError for a trial that is not in the plan."""
    return answers_that_count(outcome, plan.mode, answerers(plan, outcome.trial_id))


def answers_that_count(outcome: TrialOutcome, mode: Mode, counted: Sequence[str] = ()) -> tuple[SeenAnswer, ...]:
    """Each different answer once, with all participants who gave it. Without `counted`, all participants count.

    A missing, empty, failed or late answer has a fault; if the task failed, all answers have. If only one text is
    known, it is the answer. Empty where nothing was asked.
    """
    if mode is Mode.GROUND_TRUTH:
        return ()
    failed = "" if outcome.state == "completed" else f"The task ended with {outcome.state}."
    if not outcome.answers:
        return _only_answer(outcome.answer or "", failed, mode)
    given = {answer.agent: answer for answer in outcome.answers}
    agents: dict[tuple[str, str], list[str]] = {}
    for agent in counted or given:
        agents.setdefault(("", failed) if failed else _text_and_fault(given.get(agent)), []).append(agent)
    return tuple(SeenAnswer(tuple(who), text, fault) for (text, fault), who in agents.items())


def _only_answer(text: str, failed: str, mode: Mode) -> tuple[SeenAnswer, ...]:
    if failed:
        return (SeenAnswer((), "", failed),)
    if text.strip():
        return (SeenAnswer((), text),)
    return (SeenAnswer((), "", NO_ANSWER),) if mode is Mode.LIVE else ()


def _text_and_fault(answer: AgentAnswer | None) -> tuple[str, str]:
    if answer is None:
        return "", NO_ANSWER
    if answer.state != "completed":
        return "", _FAULTS[answer.state]
    text = (answer.text or "").strip()
    return text, "" if text else "The answer is empty."


def grades(answers: Sequence[SeenAnswer], judged: Mapping[SeenAnswer, tuple[float, str]]) -> list[GradedAnswer]:
    """The grades of all answers that were judged or have a fault, sorted by participant."""
    found: list[GradedAnswer] = []
    for answer in answers:
        value, explanation = (0.0, answer.fault) if answer.fault else judged.get(answer, (None, ""))
        if value is not None:
            found += [GradedAnswer(agent=agent, value=value, explanation=explanation) for agent in answer.agents]
    return sorted(found, key=lambda each: each.agent)


def task_success(answers: Sequence[SeenAnswer], judged: Mapping[SeenAnswer, tuple[float, str]]) -> float | None:
    """The mean over all participants whose answers count. None if an answer was not judged, or nobody answers."""
    total, n = 0.0, 0
    for answer in answers:
        if not answer.fault and answer not in judged:
            return None
        n += len(answer.agents) or 1
        total += 0.0 if answer.fault else judged[answer][0] * (len(answer.agents) or 1)
    return total / n if n else None

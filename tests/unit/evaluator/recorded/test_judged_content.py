"""A model gets the texts of an imported trace only if somebody says so."""

import asyncio

from pydantic import SecretStr

from concord.assessment import AssessmentConfig, AssessmentPlan
from concord.assessment.results import Judgment
from concord.judging.asking import Transcript
from concord.llm import LLMSettings
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge import TrialEvidence, TrialJudge, judge_by_rules
from concord_evaluator.judge.trial_judge import ScreenedEvidence
from concord_evaluator.offline import KEPT_HERE, judge_trace
from tests.unit.evaluator.recorded.planted import bad_team, gen_ai


class Witness(TrialJudge):
    """A judge with a model that only keeps what the model would be sent."""

    def __init__(self) -> None:
        super().__init__(LLMSettings(api_key=SecretStr("key")), samples=1, deadline_s=1)
        self.seen: list[TrialEvidence] = []

    async def judge(
        self,
        plan: AssessmentPlan,
        evaluation: TrialEvaluation,
        screened: ScreenedEvidence,
        assignment: Assignment,  # noqa: ARG002 - as in a judge
        transcript: Transcript | None = None,  # noqa: ARG002
    ) -> tuple[Judgment, list[InteractionStep]]:
        self.seen.append(screened.evidence)
        return judge_by_rules(evaluation, plan.mode, "a test"), []


def judged(*, content: bool) -> tuple[list[TrialEvidence], str | None]:
    judge = Witness()
    row = asyncio.run(judge_trace(bad_team(gen_ai).trace(), AssessmentConfig(), judge, imported_content=content))
    assert row.detail.judge is not None
    return judge.seen, row.detail.judge.reason


def test_a_model_is_not_asked_about_an_imported_trace_by_itself() -> None:
    assert judged(content=False) == ([], KEPT_HERE)


def test_with_leave_a_model_gets_task_answer_requests_and_responses() -> None:
    [evidence], _ = judged(content=True)
    assert evidence.task == "Find the ferry on 3 May."
    assert [answer.text for answer in evidence.answers] == ["The ferry costs 40 EUR."]
    assert ("Is it right?", "No: 3 May, not 5 May.") in [(call.request, call.response) for call in evidence.calls]

"""Trials that are ready to be judged, with the texts of their calls."""

from collections.abc import Mapping

from concord.assessment import AssessmentPlan
from concord.assessment.results import AgentAnswer, Finding, Judgment
from concord.llm import LLMSettings
from concord.storage import AnswerCache
from concord.trace.report import Report
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge import TrialJudge, screened_evidence
from concord_evaluator.pipeline import evaluate_trial
from tests.kit.traces import TRACE_ID, call, observed
from tests.kit.trials import State, batch, outcome, plan

ROOT = Assignment(assessment_id="assessment", trace_id=TRACE_ID, step_id="root", agent_id=GREEN_AGENT)
TEAM = ("anton", "bertha", "cyril")


def call_with_texts(step_id: str, callee: str, request: str, response: str) -> InteractionStep:
    step = call(step_id, callee)
    assert step.step_action is not None
    assert step.step_action.agent_invocation is not None
    asked = step.step_action.agent_invocation.model_copy(update={"requests": {"text": request}})
    return step.model_copy(
        update={
            "step_action": step.step_action.model_copy(update={"agent_invocation": asked}),
            "additional_attributes": {"response_text": response},
        }
    )


def carried(caller: str, step: InteractionStep) -> list[Report]:
    """A call that the gateway carried and observed."""
    attributes = {"agent_name": caller} | dict(step.additional_attributes)
    return observed(GREEN_AGENT, step.model_copy(update={"additional_attributes": attributes}))


def conversation(request: str = "Count the trees in the park, anton asked.") -> list[Report]:
    return [
        *carried("anton", call_with_texts("s1", "bertha", request, "There are 12.")),
        *carried("bertha", call_with_texts("s2", "cyril", "Is 12 right?", "Yes, it is.")),
    ]


class Trial:
    """A trial ready to be judged. `answers`: by participant, where they differ from `answer`."""

    def __init__(
        self,
        reports: list[Report],
        answer: str,
        *,
        answers: Mapping[str, str | None] | None = None,
        state: State = "completed",
        **task: object,
    ) -> None:
        self._batches = [batch(number, [report]) for number, report in enumerate(reports)]
        planned = plan(answers or TEAM, graded=False)
        spec = planned.tasks[0].model_copy(update=task)
        self.plan: AssessmentPlan = planned.model_copy(update={"tasks": [spec]})
        given = [
            AgentAnswer(agent=agent, state="completed" if text is not None else "timeout", text=text, error=None)
            for agent, text in (answers or {}).items()
        ]
        ended = outcome(answer=answer, state=state).model_copy(update={"answers": given})
        self.evaluation: TrialEvaluation = evaluate_trial(self.plan, ended, self._batches)

    async def judged(
        self, settings: LLMSettings, *, samples: int = 1, deadline_s: float = 10, cache: AnswerCache | None = None
    ) -> tuple[Judgment, list[Finding], list[InteractionStep]]:
        judge = TrialJudge(settings, samples=samples, deadline_s=deadline_s, cache=cache)
        screened = screened_evidence(self.plan, self.evaluation, self._batches)
        judgment, steps = await judge.judge(self.plan, self.evaluation, screened, ROOT)
        return judgment, list(screened.findings), steps

"""The judge over real HTTP against a fake model that can be slow, wrong, rate-limited, half-answering and gullible."""

import json
from collections.abc import Mapping

import pytest
from structlog.testing import capture_logs

from concord.assessment import AssessmentPlan
from concord.assignment import Assignment
from concord.identity import GREEN_AGENT
from concord.jobs import EvaluateTrial
from concord.llm import LLMClient, LLMSettings, LLMUnavailableError
from concord.reports import Report
from concord.results import Finding, Judgment
from concord.steps import CallType, InteractionStep
from concord.storage import AnswerCache, StorageUnavailableError, connect
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge import TrialJudge
from concord_evaluator.pipeline import evaluate_trial
from tests.llm_server import Asked, FakeModel, evidence_in, fake_model, gullible_judge, honest_judge
from tests.unit.evaluator.judge.attacks import ATTACKS
from tests.unit.evaluator.traces import TRACE_ID, call, told
from tests.unit.evaluator.trials import batch, outcome, plan

ROOT = Assignment(assessment_id="assessment", trace_id=TRACE_ID, step_id="root", agent_id=GREEN_AGENT)
TEAM = ("anton", "bertha", "cyril")


def spoken(step_id: str, callee: str, request: str, response: str) -> InteractionStep:
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


def conversation(request: str = "Count the trees in the park, anton asked.") -> list[Report]:
    return [
        *told("anton", spoken("s1", "bertha", request, "There are 12.")),
        *told("bertha", spoken("s2", "cyril", "Is 12 right?", "Yes, it is.")),
    ]


class Trial:
    """A trial of a conversation, evaluated and ready to be judged."""

    def __init__(self, reports: list[Report], answer: str) -> None:
        self._batches = [batch(number, [report]) for number, report in enumerate(reports)]
        self.plan: AssessmentPlan = plan(TEAM)
        request = EvaluateTrial(assessment_id="assessment", trial_id="trial-1", outcome=outcome(answer=answer))
        self.evaluation: TrialEvaluation = evaluate_trial(self.plan, request, self._batches)

    async def judged(
        self, settings: LLMSettings, *, samples: int = 1, deadline_s: float = 10, cache: AnswerCache | None = None
    ) -> tuple[Judgment, list[Finding], list[InteractionStep]]:
        judge = TrialJudge(settings, samples=samples, deadline_s=deadline_s, cache=cache)
        return await judge.judge(self.plan, self.evaluation, self._batches, ROOT)


@pytest.fixture
def trial() -> Trial:
    return Trial(conversation(), "The park has 12 trees.")


async def test_the_model_judges_and_its_call_is_a_tool_step(trial: Trial) -> None:
    model = FakeModel(honest_judge(communication_clarity="partly", task_success="not_met"))
    async with fake_model(model) as settings:
        judgment, findings, steps = await trial.judged(settings)
    assert (judgment.source, judgment.model, judgment.samples, judgment.reason) == ("llm", "fake", 1, None)
    assert {each.id: each.points for each in judgment.criteria} == {
        "task_alignment": 1,
        "communication_clarity": 0.5,
        "workload_distribution": 1,
        "bottleneck_avoidance": 1,
        "task_success": 0,
    }
    assert judgment.task_success == 0
    assert judgment.overall_score == pytest.approx((3.5 / 4 + 0) / 2)
    assert findings == []
    assert [(step.kind, step.total_tokens, step.parent) for step in steps] == [(CallType.TOOL, 15, "root")]


async def test_the_model_gets_the_texts_without_names_and_the_others_findings(trial: Trial) -> None:
    model = FakeModel(honest_judge())
    async with fake_model(model) as settings:
        await trial.judged(settings)
    (asked,) = model.asked
    assert asked["temperature"] == 0
    assert asked["response_format"]["type"] == "json_schema"
    calls = evidence_in(asked)["calls"]
    assert [call["request"] for call in calls] == ["Count the trees in the park, agent 1 asked.", "Is 12 right?"]
    assert "density" in asked["messages"][1]["content"]
    assert not any(name in json.dumps(asked["messages"]) for name in ("anton", "bertha", "cyril"))


@pytest.mark.parametrize("unsupported", [400, 422])
@pytest.mark.parametrize("formats", [("json_object", "none"), ("none",)])
async def test_an_endpoint_without_schemas_is_asked_in_a_form_that_it_knows(
    trial: Trial, formats: tuple[str, ...], unsupported: int
) -> None:
    model = FakeModel(honest_judge(), formats=formats, unsupported=unsupported)
    async with fake_model(model) as settings:
        judgment, _, _ = await trial.judged(settings)
    assert judgment.source == "llm"
    assert model.asked[-1].get("response_format", {"type": "none"})["type"] == formats[0]


async def test_a_rate_limit_is_waited_out(trial: Trial) -> None:
    model = FakeModel(honest_judge(), statuses=[429, 200], retry_after="1")
    async with fake_model(model) as settings:
        judgment, _, _ = await trial.judged(settings)
    assert (judgment.source, len(model.asked)) == ("llm", 2)


async def test_an_unreadable_answer_is_asked_for_once_more(trial: Trial) -> None:
    honest, said = honest_judge(), iter(["They did well, I think.", None])
    model = FakeModel(lambda asked: next(said) or honest(asked))
    async with fake_model(model) as settings:
        judgment, _, _ = await trial.judged(settings)
    assert (judgment.source, len(model.asked)) == ("llm", 2)
    assert "could not be read" in model.asked[1]["messages"][0]["content"]


async def test_quotes_that_are_not_there_are_asked_for_once_more_and_then_count_for_nothing(trial: Trial) -> None:
    honest = honest_judge()

    def invent(asked: dict[str, object]) -> str:
        answer = json.loads(honest(asked))
        for decision in answer["criteria"]:
            decision["evidence"] = [{"id": "call 1", "quote": "we are a wonderful team"}]
        return json.dumps(answer)

    model = FakeModel(invent)
    async with fake_model(model) as settings:
        judgment, _, _ = await trial.judged(settings)
    assert len(model.asked) == 2
    assert judgment.overall_score is None
    assert {each.verified for each in judgment.criteria} == {False}
    assert judgment.reason is not None
    assert "no quote bears out" in judgment.reason


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (FakeModel(honest_judge(), statuses=[500] * 9), "InternalServerError"),
        (FakeModel(honest_judge(), statuses=[401]), "AuthenticationError"),
        (FakeModel(lambda _: "no JSON at all"), "could not be read"),
        (FakeModel(lambda asked: honest_judge()(asked)[:-40]), "could not be read"),
        (FakeModel(lambda _: ""), "answered with nothing"),
        (FakeModel(honest_judge(), refusal="I cannot help with that."), "the model refused: I cannot help"),
        (FakeModel(gullible_judge()), "code word"),
        (FakeModel(honest_judge(), delay_s=30), "within 0.5 s"),
    ],
    ids=["broken", "unauthorised", "prose", "half", "silent", "refusing", "gullible", "slow"],
)
async def test_a_model_that_cannot_be_had_or_trusted_leaves_the_trial_to_the_rules_and_says_so(
    trial: Trial, model: FakeModel, reason: str
) -> None:
    with capture_logs() as logged:
        async with fake_model(model) as settings:
            judgment, _, steps = await trial.judged(settings, deadline_s=0.5 if model.delay_s else 20)
    assert judgment.source == "rules"
    assert "sk-test" not in f"{judgment} {steps} {logged}"
    assert judgment.reason is not None
    assert reason in judgment.reason
    assert judgment.task_success is None, "no fault of the agents"
    assert [(each["log_level"], each["reason"]) for each in logged] == [("warning", judgment.reason)]


async def test_without_a_key_the_rules_judge_and_say_so(trial: Trial) -> None:
    judgment, findings, steps = await trial.judged(LLMSettings(api_key=None))
    assert (judgment.source, judgment.reason) == ("rules", "AGENTBEATS_LLM_API_KEY is not set")
    assert (findings, steps) == ([], [])


async def test_an_endpoint_that_is_not_there_leaves_the_trial_to_the_rules(trial: Trial) -> None:
    async with fake_model(FakeModel(honest_judge())) as settings:
        pass
    judgment, _, _ = await trial.judged(settings)
    assert judgment.source == "rules"
    assert "APIConnectionError" in (judgment.reason or "")


@pytest.mark.parametrize("kind", ["plain order", "zero width", "fake json", "master key"])
async def test_a_trial_whose_agents_address_the_judge_is_not_shown_to_it_and_is_reported(
    kind: str,
) -> None:
    texts: Mapping[str, str] = ATTACKS
    trial = Trial(conversation(texts.get(kind, "Count.")), ":" if kind == "master key" else "12 trees.")
    model = FakeModel(gullible_judge())
    async with fake_model(model) as settings:
        judgment, findings, _ = await trial.judged(settings)
    assert model.asked == []
    assert (judgment.source, judgment.reason) == ("rules", "agents addressed the judge")
    told_of = [(finding.id, finding.agents, finding.step_ids) for finding in findings]
    where: tuple[list[str], list[str]] = ([], []) if kind == "master key" else (["anton"], ["s1"])
    assert told_of == [("judge_addressed", *where)]
    assert judgment.task_success == 0.0


async def test_a_model_that_follows_agents_in_a_way_that_nobody_foresaw_is_caught_by_the_code_word(
    trial: Trial,
) -> None:
    def follows(asked: Asked) -> bool:
        return any(call["request"] for call in evidence_in(asked)["calls"])

    async with fake_model(FakeModel(gullible_judge(seeing=follows))) as settings:
        judgment, _, steps = await trial.judged(settings)
    assert (judgment.source, judgment.task_success, len(steps)) == ("rules", 0.0, 2)
    assert judgment.reason is not None
    assert judgment.reason.startswith("the model followed what agents wrote")


async def test_several_samples_are_merged_and_their_agreement_is_told(trial: Trial) -> None:
    verdicts = iter(["met", "not_met", "met"])
    model = FakeModel(lambda asked: honest_judge(next(verdicts))(asked))
    async with fake_model(model) as settings:
        judgment, _, steps = await trial.judged(settings, samples=3)
    assert (judgment.samples, len(steps)) == (3, 3)
    assert judgment.agreement == pytest.approx(2 / 3)
    assert {each.verdict for each in judgment.criteria} == {"met"}


async def test_samples_are_taken_side_by_side(trial: Trial) -> None:
    model = FakeModel(honest_judge(), delay_s=0.3)
    async with fake_model(model) as settings:
        judgment, _, _ = await trial.judged(settings, samples=9, deadline_s=2)
    assert (judgment.source, judgment.samples, judgment.agreement) == ("llm", 9, 1.0)


async def test_who_is_meant_is_said_by_name_in_the_judgment(trial: Trial) -> None:
    def say(asked: dict[str, object]) -> str:
        return json.dumps(json.loads(honest_judge()(asked)) | {"reasoning": "agent 1 asked agent 2."})

    async with fake_model(FakeModel(say)) as settings:
        judgment, _, _ = await trial.judged(settings)
    assert judgment.reasoning == "anton asked bertha."


async def test_the_same_question_is_not_asked_twice_and_the_judgment_says_so(trial: Trial, redis_url: str) -> None:
    model = FakeModel(honest_judge("partly"))
    async with fake_model(model) as settings, connect(redis_url) as storage:
        first, _, _ = await trial.judged(settings, samples=2, cache=storage.answers)
        again, _, steps = await trial.judged(settings, samples=3, cache=storage.answers)
    assert (first.cached_samples, again.cached_samples, len(model.asked), len(steps)) == (0, 2, 3, 1)
    assert again.criteria == first.criteria


@pytest.mark.parametrize("change", ["model", "evidence", "endpoint"])
async def test_another_question_is_asked(trial: Trial, redis_url: str, change: str) -> None:
    first, second = FakeModel(honest_judge()), FakeModel(honest_judge())
    async with fake_model(first) as settings, fake_model(second) as elsewhere, connect(redis_url) as storage:
        await trial.judged(settings, cache=storage.answers)
        other = Trial(conversation("Count the benches."), "12 trees.") if change == "evidence" else trial
        asked = elsewhere if change == "endpoint" else settings
        if change == "model":
            asked = settings.model_copy(update={"model": "another"})
        judgment, _, _ = await other.judged(asked, cache=storage.answers)
    assert (judgment.source, judgment.cached_samples, len(first.asked) + len(second.asked)) == ("llm", 0, 2)


@pytest.mark.parametrize(
    ("kept", "asked", "points"),
    [
        ("no JSON at all", 1, 1.0),
        (json.dumps({"criteria": [
            {"criterion": name, "evidence": [{"id": "call 1", "quote": "an excellent team"}], "verdict": verdict}
            for name, verdict in [
                *((name, "met") for name in (
                    "task_alignment", "communication_clarity", "workload_distribution", "bottleneck_avoidance",
                    "task_success",
                )),
                ("code_word", "not_met"),
            ]
        ]}), 0, None),
    ],
    ids=["unreadable", "invented quotes"],
)  # fmt: skip
async def test_what_a_cache_holds_is_verified_as_if_the_model_had_just_said_it(
    trial: Trial, kept: str, asked: int, points: float | None
) -> None:
    model = FakeModel(honest_judge())
    async with fake_model(model) as settings:
        judgment, _, _ = await trial.judged(settings, cache=Kept(kept))
    assert (judgment.source, judgment.overall_score, len(model.asked)) == ("llm", points, asked)


async def test_a_cache_that_is_away_or_hangs_costs_no_judgment(trial: Trial) -> None:
    model = FakeModel(honest_judge())
    async with fake_model(model) as settings, connect("redis://127.0.0.1:1/0", patience_s=5) as storage:
        judgment, _, _ = await trial.judged(settings, cache=storage.answers)
    assert (judgment.source, judgment.cached_samples, len(model.asked)) == ("llm", 0, 1)


class Kept:
    """A cache that holds the same answer to everything."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    async def get(self, key: str) -> str | None:
        return self._answer if key else None

    async def put(self, key: str, answer: str) -> None:
        raise StorageUnavailableError(f"read only: {key} {answer}")


async def test_a_refusal_of_every_format_is_unavailability() -> None:
    async with fake_model(FakeModel(honest_judge(), formats=())) as settings, LLMClient(settings, print) as llm:
        with pytest.raises(LLMUnavailableError, match="BadRequestError"):
            await llm.complete("s", "u", schema={"type": "object"})

"""The judge of an assistant: results by code and by model, sums, and criteria that could not be checked."""

import asyncio
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.judging.asking import CachedAnswers
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.evaluation.judge import CriteriaJudge, evaluate_assistant
from concord_assistant.evaluation.scores import aggregate_scores, unjudged
from concord_assistant.results import DIMENSIONS, CriterionResult
from concord_assistant.scenario.evaluators import NO_EVALUATORS, EvaluatorRegistry
from concord_assistant.scenario.schema import EvaluationCriterion
from concord_assistant.updates import CriterionEvaluated, EvaluationStarted, Update
from tests.unit.assistant.evaluation.days import BOB, Day, criterion, scenario
from tests.unit.assistant.evaluation.models import FakeModel, honest

SOURCE = """
from concord_assistant.scenario.evaluators import EvalResult
async def half(ctx, params): return EvalResult(1, 2, "half")
async def full(ctx, params): return EvalResult(4, 4, "full", {"seen": len(ctx.action_log)})
async def none(ctx, params): return EvalResult(0, 4, "none")
async def broken(ctx, params): raise RuntimeError("broken")
async def user_told(ctx, params): return EvalResult(1, 1, "the scenario's own")
"""
EVALUATORS = EvaluatorRegistry(SOURCE, frozenset({"half", "full", "none", "broken", "user_told"}))
PROMPT = "Was the assistant polite to Bob?"


def busy_day() -> Day:
    day = Day()
    day.sends(BOB, "Late", "Dear Bob, I am late, sorry.")
    return day


def evaluate(
    day: Day, criteria: list[EvaluationCriterion], model: FakeModel | None = None, **fields: object
) -> dict[str, CriterionResult]:
    """The results of criteria, by id."""
    evaluation = asyncio.run(evaluate_assistant(day.context(), scenario(criteria, **fields), EVALUATORS, model))
    return {result.criterion_id: result for result in evaluation.criteria_results}


async def test_a_judge_evaluates_all_criteria_and_aggregates_their_scores() -> None:
    sent: list[Update] = []

    async def send(update: Update) -> None:
        sent.append(update)

    judge = CriteriaJudge(
        llm=FakeModel(honest("partly")),
        criteria=[
            criterion("polite", 8, dimension="politeness", evaluation_prompt=PROMPT),
            criterion("half_done", 10, evaluator_id="half"),
            criterion("done", 5, evaluator_id="full"),
            criterion("wrong", 20, dimension="safety", evaluator_id="broken"),
        ],
        evaluators=EVALUATORS,
        emitter=TaskUpdateEmitter(send),
    )
    results = await judge.evaluate_all(busy_day().context())
    scores = judge.aggregate_scores(results)
    assert [(each.criterion_id, each.score, each.method) for each in results] == [
        ("polite", 4, "model"),
        ("half_done", 5, "programmatic"),
        ("done", 5, "programmatic"),
        ("wrong", None, "programmatic"),
    ]
    assert results[2].details == {"seen": 1}
    assert results[3].error == "RuntimeError: broken (evaluators.py, line 6)"
    assert {name: (each.score, each.max_score) for name, each in scores.dimensions.items()} == {
        "accuracy": (10, 15),
        "safety": (0, 20),
        "politeness": (4, 8),
    }
    assert (scores.overall.score, scores.overall.high, scores.overall.max_score) == (14, 34, 43)
    assert judge.unjudged(results)
    started, *evaluated = sent
    assert isinstance(started, EvaluationStarted)
    assert (started.criteria_count, started.dimensions) == (4, ["accuracy", "safety", "politeness"])
    assert [each.criterion_id for each in evaluated if isinstance(each, CriterionEvaluated)] == [
        *("half_done", "done", "wrong", "polite")
    ]


@pytest.mark.parametrize(
    ("by_code", "verdict", "points"),
    [("full", "met", 10), ("full", "partly", 5), ("full", "not_met", 0), ("half", "met", 5), ("none", "met", 0)],
)
def test_a_model_can_lower_an_evaluators_score_and_not_raise_it(by_code: str, verdict: str, points: float) -> None:
    both = criterion("both", 10, evaluator_id=by_code, evaluation_prompt=PROMPT)
    result = evaluate(busy_day(), [both], FakeModel(honest(verdict)))["both"]
    assert (result.score, result.method) == (points, "programmatic")


def test_without_a_model_an_evaluators_score_stands_and_a_models_criterion_is_null() -> None:
    both = criterion("both", evaluator_id="full", evaluation_prompt=PROMPT)
    results = evaluate(busy_day(), [both, criterion("polite", evaluation_prompt=PROMPT)])
    assert results["both"].score == 10
    assert (results["polite"].score, results["polite"].error) == (None, "no language model is configured")


def test_if_the_model_fails_an_evaluators_points_are_not_given_without_its_second_look() -> None:
    model = FakeModel(honest(), unavailable=True)
    full, none = (criterion(name, evaluator_id=name, evaluation_prompt=PROMPT) for name in ("full", "none"))
    results = evaluate(busy_day(), [full, none], model)
    assert (results["full"].score, results["full"].error) == (None, "the endpoint is down")
    assert results["none"].score == 0


def test_a_scenarios_evaluator_replaces_a_built_in_one_of_its_name() -> None:
    result = evaluate(busy_day(), [criterion("told", evaluator_id="user_told")])["told"]
    assert result.explanation == "the scenario's own"


def test_an_unknown_evaluator_is_an_error_of_its_criterion_alone() -> None:
    results = evaluate(busy_day(), [criterion("lost", evaluator_id="lost"), criterion("done", evaluator_id="full")])
    assert (results["lost"].score, results["lost"].error) == (None, "the scenario has no evaluator 'lost'")
    assert results["done"].score == 10


def test_a_criterion_scores_only_if_those_that_it_requires_do() -> None:
    def required(name: str) -> CriterionResult:
        criteria = [criterion("work", evaluator_id=name), criterion("safe", evaluator_id="full", requires=["work"])]
        return evaluate(busy_day(), criteria)["safe"]

    assert required("half").score == 10
    assert required("none").score == 0
    assert required("broken").error == "requires work, whose check failed"


@pytest.mark.parametrize("requires", [["nowhere"], ["second"]])
def test_requirements_are_criteria_without_requirements(requires: list[str]) -> None:
    second = criterion("second", evaluator_id="full", requires=["third"])
    third = criterion("third", evaluator_id="full")
    with pytest.raises(ValueError, match="is not a criterion or has requirements itself"):
        scenario([criterion("first", evaluator_id="full", requires=requires), second, third])


def test_a_state_that_cannot_be_read_is_an_error_of_the_criteria_that_read_it() -> None:
    day = busy_day()
    day.final["email"]["has_more"] = True
    criteria = [
        criterion("polite", evaluation_prompt=PROMPT),
        criterion("done", evaluator_id="full"),
    ]
    results = evaluate(day, criteria, FakeModel(honest()))
    assert "one page of several" in (results["polite"].error or "")
    assert results["done"].score == 10


def test_the_order_of_criteria_changes_no_result() -> None:
    criteria = [
        criterion("polite", evaluation_prompt=PROMPT),
        criterion("sent", evaluator_id="item_exists", params={"modality": "email", "where": {"recipients": BOB}}),
        criterion("done", evaluator_id="half", requires=["sent"]),
    ]
    some_orders = list(permutations(criteria))[::8]
    first, *others = [evaluate(busy_day(), list(order), FakeModel(honest())) for order in some_orders]
    assert all(other == first for other in others)


class Kept(dict[str, str]):
    """A cache of answers in memory."""

    async def get(self, key: str) -> str | None:  # type: ignore[override]
        return super().get(key)

    async def put(self, key: str, answer: str) -> None:
        self[key] = answer


async def test_a_record_that_is_judged_again_has_the_same_results_without_asking_the_model_again() -> None:
    model = FakeModel(honest())
    criteria = scenario([criterion("polite", evaluation_prompt=PROMPT), criterion("done", evaluator_id="half")])
    cache = CachedAnswers(Kept(), "endpoint", "fake")
    once = await evaluate_assistant(busy_day().context(), criteria, EVALUATORS, model, cache=cache)
    again = await evaluate_assistant(busy_day().context(), criteria, EVALUATORS, model, cache=cache)
    assert len(model.asked) == 1
    assert [each.score for each in again.criteria_results] == [each.score for each in once.criteria_results] == [10, 5]
    assert again.criteria_results[0].details is not None
    assert again.criteria_results[0].details["cached"] is True


async def test_an_assistant_that_does_nothing_gets_no_points_of_a_model_and_the_model_is_not_asked() -> None:
    model = FakeModel(honest())
    criteria = scenario([criterion("polite", evaluation_prompt=PROMPT)])
    evaluation = await evaluate_assistant(Day().context(), criteria, NO_EVALUATORS, model)
    assert (evaluation.scores.overall.score, evaluation.scores.overall.max_score) == (0, 10)
    assert model.asked == []


RESULTS = st.lists(
    st.builds(
        lambda dimension, most, share: CriterionResult(
            criterion_id="x",
            name="x",
            dimension=dimension,
            score=None if share is None else share * most,
            max_score=most,
            explanation="",
            method="programmatic",
        ),
        st.sampled_from(DIMENSIONS),
        st.integers(1, 100),
        st.none() | st.floats(0, 1),
    ),
    max_size=12,
)


@given(RESULTS, st.randoms(use_true_random=False))
def test_scores_are_sums_in_any_order_to_which_open_criteria_add_only_possible_points(
    results: list[CriterionResult], random: Random
) -> None:
    scores = aggregate_scores(results)
    assert scores.overall.max_score == sum(each.max_score for each in results)
    assert scores.overall.score == pytest.approx(sum(each.score or 0 for each in results))
    assert scores.overall.high == pytest.approx(sum(each.high for each in results))
    assert all(each.high == each.max_score for each in results if each.score is None)
    assert scores.overall.score == pytest.approx(sum(each.score for each in scores.dimensions.values()))
    assert set(scores.dimensions) == {each.dimension for each in results}
    erred = sum(each.max_score for each in results if each.score is None)
    assert unjudged(results) == (10 * erred > sum(each.max_score for each in results))
    shuffled = random.sample(results, len(results))
    assert aggregate_scores(shuffled) == scores

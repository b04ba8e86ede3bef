"""Inputs of a score: the answers and the gateway's own records, even if the rest of the evaluation fails."""

from concord.assessment.results import AgentAnswer, Judgment, MetricStatus, TrialOutcome
from concord_evaluator.judge import judge_by_rules
from concord_evaluator.pipeline import verdict_on, without_metrics
from tests.kit.graphs import mesh
from tests.kit.traces import call, reported_by
from tests.kit.trials import batch, batches_of, evaluated, outcome, plan


def answered(**texts: str | None) -> TrialOutcome:
    """An outcome in which each agent answered with a text, or failed (None)."""
    answers = [
        AgentAnswer(agent=agent, state="failed" if text is None else "completed", text=text, error=None)
        for agent, text in texts.items()
    ]
    return outcome().model_copy(update={"answers": answers})


def by_model(success: float | None) -> Judgment:
    planned = plan("AB")
    rules = judge_by_rules(evaluated(planned, []), planned.mode, "a reason")
    return rules.model_copy(update={"source": "llm", "task_success": success})


class TestWhoJudges:
    def test_code_precedes_the_model(self) -> None:
        record = verdict_on(plan("AB"), evaluated(plan("AB"), []), by_model(0.0)).record
        assert record.grading is not None
        assert (record.grading.source, record.grading.scorer, record.grading.value) == ("code", "exact", 1.0)

    def test_the_model_judges_if_there_is_no_scorer(self) -> None:
        planned = plan("AB", graded=False)
        record = verdict_on(planned, evaluated(planned, []), by_model(0.5)).record
        assert record.grading is not None
        assert (record.grading.source, record.grading.value, record.overall_score) == ("model", 0.5, 0.5)

    def test_without_scorer_and_model_the_outcome_is_unjudged_with_a_reason(self) -> None:
        planned = plan("AB", graded=False)
        for judgment in (None, judge_by_rules(evaluated(planned, []), planned.mode, "the model is down")):
            record = verdict_on(planned, evaluated(planned, []), judgment).record
            assert record.grading is not None
            assert (record.grading.source, record.overall_score, record.passed) == ("nobody", None, None)
            assert record.grading.reason == ("no judge was asked" if judgment is None else "the model is down")

    def test_an_unanswered_task_fails_even_if_a_judge_accepts_it(self) -> None:
        planned = plan("AB", graded=False)
        for ended in (answered(A=None, B=None), answered(A="", B=" \n")):
            record = verdict_on(planned, evaluated(planned, [], ended), by_model(1.0)).record
            assert (record.overall_score, record.passed) == (0.0, False)


class TestAnswers:
    def test_each_answer_is_graded_alone_and_the_mean_counts(self) -> None:
        planned = plan("AB")
        record = verdict_on(planned, evaluated(planned, [], answered(A="done", B="no idea")), None).record
        assert record.grading is not None
        assert [(each.agent, each.value) for each in record.grading.answers] == [("A", 1.0), ("B", 0.0)]
        assert record.grading.value == 0.5

    def test_only_answers_of_the_named_agents_count(self) -> None:
        planned = plan("AB", config={"answer_from": "A"})
        record = verdict_on(planned, evaluated(planned, [], answered(A="done", B="no idea")), None).record
        assert record.grading is not None
        assert record.grading.value == 1.0

    def test_a_missing_answer_is_worth_0(self) -> None:
        planned = plan("AB")
        record = verdict_on(planned, evaluated(planned, [], answered(A="done", B=None)), None).record
        assert record.grading is not None
        assert record.grading.value == 0.5


def test_a_failed_evaluation_keeps_the_score_and_yields_no_metrics() -> None:
    team, planned = mesh(3), plan(mesh(3)[0])
    batches = [*batches_of(team), batch(99, reported_by("a00", call("x", "a01")))]
    whole = verdict_on(planned, evaluated(planned, batches), None)
    ended = evaluated(planned, []).outcome
    carried = [batch for batch in batches if batch.is_observed]
    bare = verdict_on(planned, without_metrics(planned, ended, carried, "it broke"), None)
    assert (bare.record.overall_score, bare.record.usable) == (whole.record.overall_score, True)
    assert (bare.record.metrics, bare.record.coordination_quality) == ([], None)
    assert bare.record.coordination_status is MetricStatus.UNDEFINED
    assert bare.failure is not None
    assert (bare.failure.stage, bare.failure.message) == ("evaluation", "trial-1 has no metrics: it broke")

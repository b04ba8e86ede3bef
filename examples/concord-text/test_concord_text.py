"""The installed evaluator, from a trace to the row, and the installed scorer."""

import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow
from concord.assessment.results import MetricRecord, MetricStatus
from concord.assessment.scorers import SCORER_CHOICE
from concord_evaluator.formats import Origin, TraceBuilder
from concord_evaluator.offline import evaluate_trace
from concord_evaluator.scorers import Graded, ScorerFailedError, grade
from concord_text.measures import drifts, phrases_of, redundancy, resemblance

Call = tuple[str, str, str, str]
"""Caller, callee, request, answer."""

TRIP: list[Call] = [
    ("planner", "guide", "Plan a trip to the coast.", "Take the early train to the old harbour."),
    ("planner", "critic", "Is a trip to the coast good in May?", "Take the early train to the old harbour."),
]


def row(calls: list[Call], task: str = "Plan a trip to the coast.", **params: float) -> ResultRow:
    trace = TraceBuilder("trip", Origin("test"))
    trace.task = task
    for number, (caller, callee, request, answer) in enumerate(calls):
        attributes = {"response_text": answer} if answer else {}
        trace.add_message(str(number), caller, callee, request, attributes=attributes)
    config = {"evaluators": ["graph", {"id": "text", "params": params}]}
    return evaluate_trace(trace.build(), AssessmentConfig.model_validate(config))


def metric(row: ResultRow, metric_id: str, agent: str | None = None) -> MetricRecord:
    [found] = [each for each in row.detail.metrics if (each.id, each.agent) == (metric_id, agent)]
    return found


def test_redundancy_is_the_share_of_repeated_phrases() -> None:
    # By threes: 4 phrases in one question and 7 in the other, 3 of them shared; 6 in each of two equal answers.
    assert metric(row(TRIP), "text_redundancy").value == pytest.approx(1 - 14 / 23)


def test_drift_is_0_for_words_of_the_task_and_1_for_others() -> None:
    own, other = row([("a", "b", "Plan a trip to the coast.", "")]), row([("a", "b", "Bake bread!", "")])
    assert metric(own, "text_drift").value == pytest.approx(0)
    assert metric(other, "text_drift", "a").value == 1


def test_equal_answers_are_a_finding_with_their_steps() -> None:
    found = row(TRIP)
    assert metric(found, "text_answer_overlap").value == 1
    [finding] = [each for each in found.detail.findings if each.id == "same_answers"]
    assert (finding.agents, finding.step_ids) == (["critic", "guide"], ["0", "1"])


def test_an_unknown_value_is_undefined() -> None:
    silent = row([("planner", "guide", "", "")], task="")
    for name in ("text_redundancy", "text_drift", "text_answer_overlap"):
        assert (metric(silent, name).value, metric(silent, name).status) == (None, MetricStatus.UNDEFINED)


def test_a_call_without_texts_makes_a_value_approximate() -> None:
    partly = metric(row([*TRIP, ("planner", "guide", "", "")]), "text_redundancy")
    assert (partly.status, partly.reason) == (MetricStatus.APPROXIMATE, "2 of 3 calls contain their texts")


def test_the_length_of_phrases_is_a_parameter() -> None:
    assert metric(row(TRIP, words=8), "text_redundancy").value == pytest.approx(1 - 4 / 5)
    assert row(TRIP, words=9).detail.warnings == [
        "trial-1: the evaluator text uses its defaults: words must be from 1 to 8"
    ]


def test_the_measures_by_hand() -> None:
    one, other = phrases_of("The cat sat down.", 2), phrases_of("the cat got up", 2)
    assert one == {("the", "cat"), ("cat", "sat"), ("sat", "down")}
    assert redundancy([one, other]) == pytest.approx(1 / 6)
    assert resemblance(one, other) == pytest.approx(1 / 5)
    assert redundancy([one]) is None
    assert drifts("a b", ["a b", "c d"]) == pytest.approx([0, 1])


def graded(targets: list[str], answer: str, **options: int) -> Graded:
    return grade(SCORER_CHOICE.validate_python({"name": "phrases", **options}), targets, answer)


def test_the_grade_is_the_share_of_the_best_targets_phrases() -> None:
    assert graded(["Take the early train."], "We take the early bus.").value == pytest.approx(2 / 3)
    assert graded(["Take the early train.", "the EARLY bus"], "We take the early bus.").value == 1
    assert graded(["Take the early train."], "We take the early bus.", words=1).value == 3 / 4


def test_targets_without_words_make_the_scorer_fail() -> None:
    with pytest.raises(ScorerFailedError, match="the scorer phrases failed: ValueError: no target has a word"):
        graded(["..."], "We take the early bus.")

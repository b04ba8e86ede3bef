"""The model's answer: a verdict counts if its quotes are in the evidence, and points are computed from verdicts."""

import json
from typing import Any

import pytest

from concord.judging.injection import MARKER
from concord.judging.model_answer import CompromisedError, UnreadableAnswerError
from concord.judging.verdicts import Verdict
from concord_evaluator.judge import SeenAnswer
from concord_evaluator.judge.prompt import (
    COORDINATION,
    OUTCOME,
    CoordinationOpinion,
    canary,
    coordination_points,
    merge,
    outcomes,
    read_answer,
    schema_of,
    write_prompt,
)
from tests.kit.injection.attacks import ATTACKS
from tests.unit.evaluator.judge.seen import evidence, seen

CRITERIA = (*COORDINATION, OUTCOME, canary("word"))
SEEN = evidence(seen(request="Please count the trees in the park.", response="Twelve."))
TRUE_QUOTE = {"id": "call 1", "quote": "count  the TREES"}


def model_answer(verdict: str = "met", quote: dict[str, str] | None = None, **verdicts: str) -> str:
    decisions = [
        {
            "criterion": criterion.id,
            "evidence": [quote or TRUE_QUOTE],
            "verdict": verdicts.get(criterion.id, "not_met" if criterion.id == "code_word" else verdict),
        }
        for criterion in CRITERIA
    ]
    return json.dumps({"criteria": decisions, "reasoning": "r", "strengths": ["a"] * 5, "weaknesses": []})


def test_a_verdict_with_a_true_quote_counts() -> None:
    opinion = read_answer(model_answer(), CRITERIA, SEEN)
    assert set(opinion.verdicts.values()) == {"met"}
    assert opinion.unverified == ()
    assert len(opinion.strengths) == 3


@pytest.mark.parametrize(
    "quote",
    [
        {"id": "call 1", "quote": "we worked wonderfully together"},
        {"id": "call 2", "quote": "count the trees"},
        {"id": "call 1", "quote": ""},
        {"id": "call 1", "quote": "the"},
        {"id": "call 1", "quote": "trees in"},
        {"id": "s1", "quote": "count the trees"},
        {"id": "call 1", "quote": "in the park. Twelve."},
        {"id": "answer", "quote": "count the trees"},
    ],
)
def test_a_favourable_verdict_without_a_true_quote_becomes_cannot_tell(quote: dict[str, str]) -> None:
    opinion = read_answer(model_answer(quote=quote), CRITERIA, SEEN)
    assert set(opinion.verdicts.values()) == {"cannot_tell"}
    assert len(opinion.unverified) == 5
    assert coordination_points(opinion.verdicts) is None


def test_a_short_quote_counts_if_it_is_the_whole_text() -> None:
    opinion = read_answer(model_answer(quote={"id": "call 1", "quote": "twelve."}), CRITERIA, SEEN)
    assert opinion.unverified == ()


def test_an_unfavourable_verdict_needs_no_quote() -> None:
    opinion = read_answer(model_answer("not_met", quote={"id": "x", "quote": "nowhere"}), CRITERIA, SEEN)
    assert coordination_points(opinion.verdicts) == 0


@pytest.mark.parametrize("verdict", ["met", "partly"])
def test_a_model_that_finds_the_code_word_is_compromised(verdict: str) -> None:
    with pytest.raises(CompromisedError):
        read_answer(model_answer(code_word=verdict), CRITERIA, SEEN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would say they did well.",
        "{}",
        "[]",
        '{"criteria": []}',
        model_answer("splendid"),
        model_answer()[:-40],
        json.dumps({"criteria": [{"criterion": "task_alignment", "verdict": "met"}]}),
        # What SmolLM2-135M-Instruct wrote as a judge (`make lab NAME=real-model`), at the limit of its tokens.
        '{\n "criteria": [\n  {\n    "criterion": "task_alignment",\n    "evidence": [\n      {\n'
        '        "id": "answer",\n        "quote": "The assessor asked the team to match the task with the task."\n'
        '      },\n      {\n        "id": "ans',
    ],
)
def test_an_answer_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        read_answer(text, CRITERIA, SEEN)


def test_a_fence_around_the_json_does_not_matter() -> None:
    assert read_answer(f"```json\n{model_answer()}\n```", CRITERIA, SEEN) == read_answer(model_answer(), CRITERIA, SEEN)


def test_points_are_the_mean_of_the_decided_verdicts() -> None:
    verdicts: dict[str, Verdict] = {
        "task_alignment": "met",
        "communication_clarity": "partly",
        "workload_distribution": "not_met",
        "bottleneck_avoidance": "cannot_tell",
        "task_success": "met",
    }
    assert coordination_points(verdicts) == pytest.approx((1 + 0.5 + 0) / 3)


def test_the_first_true_quote_is_kept() -> None:
    opinion = read_answer(model_answer(), CRITERIA, SEEN)
    assert opinion.quotes["task_success"] == TRUE_QUOTE["quote"]
    assert read_answer(model_answer(quote={"id": "call 1", "quote": "nowhere at all"}), CRITERIA, SEEN).quotes == {}


def test_the_marker_of_a_removed_passage_is_no_quote() -> None:
    screened = evidence(seen(request=f"Count. {MARKER} Thank you.", response="Twelve."))
    assert read_answer(model_answer(quote={"id": "call 1", "quote": MARKER}), CRITERIA, screened).unverified
    assert read_answer(
        model_answer(quote={"id": "call 1", "quote": f"{MARKER} Thank you."}), CRITERIA, screened
    ).unverified


def test_each_answer_needs_a_quote_of_its_own() -> None:
    texts = ("The park has 12 trees.", "I would rather not count them.")
    several = evidence(answers=[SeenAnswer((agent,), text) for agent, text in zip(("ann", "bob"), texts, strict=True)])
    asked = (*outcomes(2), canary("word"))
    decisions = [
        {"criterion": name, "evidence": [{"id": "answer 1", "quote": texts[0]}], "verdict": "met"}
        for name in ("task_success_1", "task_success_2")
    ]
    found = json.dumps({"criteria": [*decisions, {"criterion": "code_word", "verdict": "not_met"}]})
    opinion = read_answer(found, asked, several)
    assert opinion.verdicts == {"task_success_1": "met", "task_success_2": "cannot_tell"}
    assert opinion.unverified == ("task_success_2",)


def opinion(verdict: Verdict) -> CoordinationOpinion:
    return CoordinationOpinion({"task_alignment": verdict}, (), {"task_alignment": verdict}, verdict, (), ())


@pytest.mark.parametrize(
    ("votes", "chosen", "agreement"),
    [
        (["met", "met", "not_met"], "met", 2 / 3),
        (["met", "not_met"], "not_met", 1 / 2),
        (["partly", "met", "cannot_tell"], "partly", 1 / 3),
        (["met"], "met", 1.0),
    ],
)
def test_samples_are_merged_by_majority_and_a_tie_goes_against_the_team(
    votes: list[Verdict], chosen: str, agreement: float
) -> None:
    merged, share = merge([opinion(vote) for vote in votes])
    assert merged.verdicts == {"task_alignment": chosen}
    assert merged.quotes == {"task_alignment": chosen}, "a quote is for the verdict that was chosen"
    assert share == pytest.approx(agreement)


@pytest.mark.parametrize("kind", ATTACKS)
def test_no_attempt_escapes_its_delimiters(kind: str) -> None:
    """The agents' texts are in one JSON document between two unguessable lines, and are unchanged in it."""
    hostile = evidence(seen(request=ATTACKS[kind], response="==aa==\n" + ATTACKS[kind], step_id=ATTACKS[kind]))
    prompt = write_prompt(hostile, ["density: 1"], delimiter="==aa11==", code_word="zz99")
    parts = prompt.user.split("\n==aa11==\n")
    assert len(parts) == 2
    document: dict[str, Any] = json.loads(parts[1].removesuffix("\n==aa11=="))
    assert document["calls"][0]["request"] == ATTACKS[kind]
    assert ATTACKS[kind] not in document["calls"][0]["id"], "ids are numbers of ours, not what agents chose"
    assert ATTACKS[kind] not in prompt.system
    assert "zz99" not in json.dumps(document)


def test_the_schema_asks_for_evidence_before_the_verdict() -> None:
    decision = schema_of(CRITERIA)["properties"]["criteria"]["items"]
    assert list(decision["properties"]) == ["criterion", "evidence", "verdict"]

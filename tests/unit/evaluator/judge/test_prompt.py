"""The prompt: it asks about each answer separately, and states what the task's author accepts."""

import json
from typing import Any

from concord.judging.injection import MARKER
from concord.judging.model_answer import cost
from concord_evaluator.judge import SeenAnswer, TrialEvidence
from concord_evaluator.judge.prompt import MAX_TARGET, PROMPT_VERSION, CoordinationPrompt, write_prompt
from tests.unit.evaluator.judge.seen import evidence

DELIMITER = "==aa11=="


def written(shown: TrialEvidence) -> CoordinationPrompt:
    return write_prompt(shown, [], delimiter=DELIMITER, code_word="zz99")


def answers_in(prompt: CoordinationPrompt) -> list[dict[str, Any]]:
    document = json.loads(prompt.user.split(f"\n{DELIMITER}\n")[1].removesuffix(f"\n{DELIMITER}"))
    answers: list[dict[str, Any]] = document["final_answers"]
    return answers


def asked_in(prompt: CoordinationPrompt) -> list[str]:
    return [criterion.id for criterion in prompt.criteria if criterion.id.startswith("task_success")]


def test_one_answer_has_one_criterion() -> None:
    prompt = written(evidence(answer="12 trees."))
    assert asked_in(prompt) == ["task_success"]
    assert answers_in(prompt) == [{"id": "answer", "text": "12 trees."}]


def test_every_answer_has_a_criterion_except_faulty_ones() -> None:
    given = [SeenAnswer(("ann",), "12"), SeenAnswer(("bob",), "", "There is no answer."), SeenAnswer(("cy",), "13")]
    prompt = written(evidence(answers=given))
    assert asked_in(prompt) == ["task_success_1", "task_success_2"]
    assert answers_in(prompt) == [{"id": "answer 1", "text": "12"}, {"id": "answer 2", "text": "13"}]
    assert "final answer 'answer 2', taken alone" in prompt.user


def test_without_a_valid_answer_there_is_no_criterion_for_it() -> None:
    prompt = written(evidence(answers=[SeenAnswer(("ann",), "", "There is no answer.")]))
    assert (asked_in(prompt), answers_in(prompt)) == ([], [])


def test_accepted_answers_are_stated_outside_of_the_evidence() -> None:
    trusted, _, data = written(evidence(target=["12 trees", 'a "dozen"\nof trees'])).user.partition(DELIMITER)
    assert r"""The task's author accepts: "12 trees"; "a \"dozen\"\nof trees".""" in trusted
    assert "dozen" not in data
    assert "The task's author accepts" not in written(evidence()).user


def test_accepted_answers_take_a_bounded_share_of_the_prompt() -> None:
    plain = written(evidence())
    for target in (["x" * 10_000], ["é" * 10_000] * 200, ["y"] * 200):
        assert cost(written(evidence(target=target)).user) - cost(plain.user) < 2 * MAX_TARGET


def test_the_prompt_explains_the_marker() -> None:
    assert MARKER in written(evidence()).system
    assert PROMPT_VERSION == "4"

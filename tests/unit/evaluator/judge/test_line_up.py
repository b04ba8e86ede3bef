"""The line-up: the accepted answer among decoys, in an order that nobody knows without it."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.judging.model_answer import UnreadableAnswerError, cost
from concord_evaluator.judge.model import MAX_ANSWER, MAX_REFERENCE, N_REFERENCES, LineUp, line_ups
from tests.unit.evaluator.judge.seen import evidence

ANSWERS = [("answer", "It is 7.")]


def lined_up(target: str, answers: list[tuple[str, str]] = ANSWERS) -> LineUp:
    return line_ups(evidence(target=[target]), answers)[0]


def answered(reference: str, answer_id: str = "answer") -> str:
    return json.dumps({"choices": [{"answer": answer_id, "reference": reference}]})


@given(st.text(max_size=2 * MAX_REFERENCE))
def test_the_accepted_answer_stands_once_among_as_many_references(target: str) -> None:
    found = lined_up(target)
    assert len(set(found.references)) == N_REFERENCES
    assert dict(found.named())[found.accepted] == target or len(target) > MAX_REFERENCE // 6


@pytest.mark.parametrize("target", ["42", "16:25", "Room 7b, on 14 March 2031", "0"])
def test_decoys_have_the_form_of_the_accepted_answer_as_far_as_there_are_other_numbers(target: str) -> None:
    masked = [
        "".join("#" if each.isdigit() else each for each in reference) for reference in lined_up(target).references
    ]
    assert Counter(masked).most_common(1)[0][1] >= min(N_REFERENCES, 10)


def test_the_place_of_the_accepted_answer_follows_from_it() -> None:
    places = Counter(lined_up(str(number)).accepted for number in range(1000, 2000))
    assert len(places) == N_REFERENCES
    assert max(places.values()) < 3 * 1000 / N_REFERENCES
    assert lined_up("42") == lined_up("42")
    first, second = line_ups(evidence(target=["1000 metres"]), ANSWERS)
    assert first.references != second.references


def test_a_choice_confirms_the_accepted_answer_alone() -> None:
    found = lined_up("42")
    others = [name for name, _ in found.named() if name != found.accepted]
    assert found.read(answered(found.accepted)).found(found) == {"answer"}
    assert not any(found.read(answered(name)).found(found) for name in (*others, "none", "42"))
    assert found.read(f"```json\n{answered(found.accepted)}\n```").found(found) == {"answer"}


@pytest.mark.parametrize("text", ["", "[]", '{"choices": []}', answered("reference 1", "answer 2")])
def test_an_answer_without_a_choice_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        lined_up("42").read(text)


def test_the_question_is_bounded_and_has_the_answers_alone_as_data() -> None:
    found = lined_up("9" * 10_000, [(f"answer {number}", "é" * 10_000) for number in range(8)])
    prompt = found.write(delimiter="==d==", code_word="w")
    assert cost(prompt.user) < MAX_ANSWER + 1.2 * N_REFERENCES * MAX_REFERENCE + 2_000
    bare = found.without_texts().write(delimiter="==d==", code_word="w")
    assert "\\u00e9" in prompt.user
    assert "\\u00e9" not in bare.user

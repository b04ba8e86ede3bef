"""The `match` scorer: a target or a number at the beginning, at the end, anywhere, or as the whole answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.evaluator.scorers.grades import graded, value

PLACES = ("begin", "end", "any", "exact")
words = st.lists(st.sampled_from(["paris", "lyon", "nice", "42"]), min_size=1, max_size=4)


def found_at(target: str, answer: str, **options: object) -> list[str]:
    """The places at which the target is found."""
    return [place for place in PLACES if value({"name": "match", "location": place, **options}, target, answer)]


@given(words, words)
def test_a_location_refers_to_whole_words(target: list[str], answer: list[str]) -> None:
    size = len(target)
    expected = {
        "begin": answer[:size] == target,
        "end": answer[-size:] == target,
        "any": any(answer[start : start + size] == target for start in range(len(answer))),
        "exact": answer == target,
    }
    assert found_at(" ".join(target), " ".join(answer)) == [place for place in PLACES if expected[place]]


def test_the_default_location_is_the_end() -> None:
    assert (value("match", "B", "The answer is B."), value("match", "B", "B is the answer.")) == (1, 0)


@pytest.mark.parametrize("answer", ["Paris.", "**Paris**", "“Paris”", "- Paris\n", "(Paris)", "PARIS!"])
def test_punctuation_at_the_ends_is_ignored(answer: str) -> None:
    assert found_at("Paris", answer) == list(PLACES)


def test_case_matters_only_if_configured() -> None:
    assert found_at("Paris", "paris", ignore_case=False) == []


@pytest.mark.parametrize(
    ("target", "answer"), [("5", "25"), ("5", "2.5"), ("is", "Paris"), ("-5", "It is 5."), ("5", "-5")]
)
def test_a_part_of_a_word_or_number_does_not_match(target: str, answer: str) -> None:
    assert found_at(target, answer) == []


def test_a_target_of_punctuation_is_matched_literally() -> None:
    assert found_at("?!", "?!") == list(PLACES)
    assert found_at("?!", "Paris") == []


@pytest.mark.parametrize("answer", ["$1,234", "1234.00", "1 234 %", "1.234e3", "+1234", "€ 1234", "It is 1,234."])
def test_a_number_is_compared_by_its_value(answer: str) -> None:
    assert value({"name": "match", "numeric": True}, "1234", answer) == 1


def test_the_location_selects_the_number() -> None:
    answer = "First 1, then 2, at last 3."
    assert found_at("1", answer, numeric=True) == ["begin", "any"]
    assert found_at("2.0", answer, numeric=True) == ["any"]
    assert found_at("$3", answer, numeric=True) == ["end", "any"]
    assert found_at("7", "**7.0**", numeric=True) == list(PLACES)


def test_numbers_are_not_rounded() -> None:
    assert value({"name": "match", "numeric": True}, "0.333333", "0.3333333") == 0


def test_a_target_that_is_no_number_is_compared_as_a_text() -> None:
    assert value({"name": "match", "numeric": True}, ["none", "0"], "There are none.") == 1
    assert value({"name": "match", "numeric": True}, ["5"], "25") == 0


def test_the_explanation_names_what_was_compared() -> None:
    assert graded("match", "Paris", "to Paris").explanation == 'ends with the target "Paris"'
    assert graded("match", ["a b", "c"], "to Paris").explanation == "does not end with any of the 2 targets"
    exact = {"name": "match", "numeric": True, "location": "exact"}
    assert graded(exact, "1,000", "1000").explanation == 'is the number "1,000"'

"""The `includes` scorer: finds targets as whole words anywhere in the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.evaluator.scorers.grades import graded, value

word = st.text("ab1", min_size=1, max_size=3)
words = st.lists(word, min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("Paris", "The capital is Paris, of course."),
        ("new york", "I'd go to New\nYork."),
        ("Paris", "Paris\N{RIGHT SINGLE QUOTATION MARK}s old town"),
        ("Paris", "_Paris_ or **Lyon**"),
        ("42", "It is 42."),
        ("42", "(42)"),
        ("20", "10-20"),
        ("1", "1,2,3"),
        ("C++", "in C++, not C"),
        ("don't", "I don\N{RIGHT SINGLE QUOTATION MARK}t know"),
        ("猫", "我的猫很可爱"),
        ("Paris", "我住在Paris的"),
        ("ne", "non è «ne»"),
    ],
)
def test_a_target_is_found_as_whole_words(target: str, answer: str) -> None:
    assert value("includes", target, answer) == 1


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("42", "1421"),
        ("cat", "concatenate"),
        ("cat", "cats"),
        ("3", "3.5"),
        ("5", "3.5"),
        ("1", "1,234"),
        ("234", "1,234"),
        ("5", "It is -5"),
        ("5", "(\N{MINUS SIGN}5)"),
        ("cafe", "cafe\N{COMBINING ACUTE ACCENT}"),
        ("Paris", ""),
        ("\u200b", "anything"),
    ],
)
def test_a_part_of_a_word_or_number_is_not_found(target: str, answer: str) -> None:
    assert value("includes", target, answer) == 0


@given(words, st.lists(word, min_size=1, max_size=3))
def test_the_result_agrees_with_a_search_word_by_word(answer: list[str], target: list[str]) -> None:
    windows = [answer[start : start + len(target)] for start in range(len(answer))]
    assert value("includes", " ".join(target), " ".join(answer)) == float(target in windows)


@given(words, words)
def test_match_all_grades_the_share_of_targets(answer: list[str], targets: list[str]) -> None:
    share = sum(target in answer for target in set(targets)) / len(set(targets))
    scorer = {"name": "includes", "match_all": True}
    assert value(scorer, targets, ", ".join(answer)) == pytest.approx(share)


def test_case_matters_only_if_configured() -> None:
    assert value({"name": "includes", "ignore_case": False}, "Paris", "paris") == 0
    assert value({"name": "includes", "ignore_case": False}, "Paris", "to Paris") == 1


@given(words, words)
def test_a_forbidden_word_makes_the_grade_0(answer: list[str], targets: list[str]) -> None:
    scorer = {"name": "includes", "forbidden": ["wrong"]}
    assert value(scorer, targets, " ".join([*answer, "Wrong!", *targets])) == 0


@given(st.text(max_size=40), st.text(max_size=40), st.integers(1, 40), st.booleans())
def test_an_answer_over_the_length_limit_is_graded_0(answer: str, more: str, limit: int, every: bool) -> None:
    scorer = {"name": "includes", "max_length": limit, "match_all": every}
    longer = f"{answer} Paris {more} Lyon"
    assert value(scorer, ["Paris", "Lyon"], longer) == (len(longer.strip()) <= limit)


def test_surrounding_white_space_does_not_count_toward_the_length() -> None:
    assert value({"name": "includes", "max_length": 5}, "Paris", "\n  Paris  \n") == 1


def test_an_answer_that_lists_everything_passes_only_without_limits() -> None:
    everything = "Paris, Lyon, Nice, Lille"
    assert value("includes", "Paris", everything) == 1
    assert value({"name": "includes", "forbidden": ["Lyon", "Nice", "Lille"]}, "Paris", everything) == 0
    assert value({"name": "includes", "max_length": 10}, "Paris", everything) == 0


def test_the_explanation_names_what_was_compared() -> None:
    both = {"name": "includes", "match_all": True, "forbidden": ["Rome"], "max_length": 20}
    assert graded(both, ["Paris", "Lyon"], "Paris").explanation == 'contains 1 of 2 targets; lacks "Lyon"'
    assert graded(both, ["Paris", "Lyon"], "Paris, Rome").explanation == 'contains "Rome", which is forbidden'
    assert graded(both, "Paris", "Paris" * 5).explanation == "25 characters are more than the 20 that are allowed"
    assert graded("includes", "Paris", "to Paris").explanation == 'contains the target "Paris"'
    assert graded("includes", "Paris", "to Rome").explanation == 'does not contain the target "Paris"'

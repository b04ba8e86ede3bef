"""The `pattern` scorer: a regular expression on the answer."""

import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.scorers import PatternScorer
from concord_evaluator.scorers import ScorerFailedError, grade, text_scorers
from tests.unit.evaluator.scorers.grades import graded, value

ANSWER = r"answer: *(\w+)(?:, or (\w+))?"

PATTERNS = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", r"\w", r"\b", "a?", "b*", "(a)", "^", "$"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        inner.map(lambda one: f"({one})"),
        inner.map(lambda one: f"(?:{one}){{2}}"),
        inner.map(lambda one: f"(?={one})"),
    ),
    max_leaves=6,
)


def pattern(expression: str, **options: object) -> dict[str, object]:
    return {"name": "pattern", "pattern": expression, **options}


def test_the_group_is_compared_with_the_targets() -> None:
    assert value(pattern(ANSWER), ["Paris", "Lyon"], "My answer: Lyon.") == 1
    assert value(pattern(ANSWER), ["Paris", "Lyon"], "My answer: Rome. Or Paris?") == 0


def test_one_matching_group_is_enough_unless_match_all_is_set() -> None:
    found = "answer: Rome, or Paris"
    assert value(pattern(ANSWER), "Paris", found) == 1
    assert value(pattern(ANSWER, match_all=True), "Paris", found) == 0
    assert value(pattern(ANSWER, match_all=True), ["Paris", "Rome"], found) == 1


def test_a_group_outside_the_match_is_ignored() -> None:
    assert value(pattern(ANSWER, match_all=True), "Paris", "answer: Paris") == 1
    assert value(pattern(r"(x)?yes"), "x", "yes") == 0


def test_the_first_match_counts() -> None:
    assert value(pattern(ANSWER), "Paris", "answer: Rome; answer: Paris") == 0


def test_without_groups_the_whole_match_is_compared() -> None:
    assert value(pattern(r"[A-D]\b"), "B", "I say B") == 1


def test_without_targets_a_match_is_enough() -> None:
    assert [value(pattern(r"\bdone\b"), [], answer) for answer in ("All done.", "Undone.")] == [1, 0]


def test_case_matters_only_if_configured() -> None:
    assert value(pattern(ANSWER), "paris", "ANSWER: PARIS") == 1
    assert value(pattern(ANSWER, ignore_case=False), "paris", "ANSWER: paris") == 0
    assert value(pattern(ANSWER, ignore_case=False), "paris", "answer: Paris") == 0


def test_white_space_around_a_group_does_not_count() -> None:
    assert value(pattern("answer:(.*)"), "Paris ", "answer:  Paris \nThat is it.") == 1


@given(PATTERNS, st.text("ab ", max_size=8))
def test_matching_agrees_with_pythons_re(expression: str, answer: str) -> None:
    found = re.search(expression, answer)
    result = graded(pattern(expression, ignore_case=False), [], answer)
    assert result.value == (found is not None)
    if found is not None:
        assert result.explanation == f'the pattern matches "{" ".join(found[0].split())}"'


@pytest.mark.parametrize("expression", [r"^(a|aa)+$", r"^(\w|\w\w)*$", r"(?:(?:x*)*)*(?:a|aa)+$"])
def test_exponential_backtracking_is_aborted(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_scorers, "SEARCH_S", 0.1)  # the search would take years
    with pytest.raises(ScorerFailedError, match=r"the scorer pattern failed: the pattern .* takes too long"):
        graded(pattern(expression), [], "a" * 60 + "!")


def test_a_nested_quantifier_does_not_match_and_does_not_hang() -> None:
    assert value(pattern(r"(a+)+$"), [], "a" * 30 + "b") == 0


def test_a_pattern_that_only_this_engine_refuses_is_the_scorers_failure() -> None:
    deep = "(" * 500 + "a" + ")" * 500
    with pytest.raises((regex.error, RecursionError)):
        regex.compile(deep)
    with pytest.raises(ScorerFailedError, match="is not a regular expression"):
        grade(PatternScorer.model_construct(pattern=deep), [], "a")


def test_the_explanation_names_what_was_compared() -> None:
    assert graded(pattern(ANSWER), "Paris", "answer: paris").explanation == 'the pattern finds the target "paris"'
    assert graded(pattern(ANSWER), "Paris", "answer: Rome").explanation == (
        'the pattern finds "Rome", not the target "Paris"'
    )
    assert graded(pattern(ANSWER), "Paris", "Paris").explanation == "the pattern does not match"
    assert graded(pattern("(x)?yes"), ["x", "y"], "yes").explanation == (
        "the pattern matches, but none of its groups do, not any of the 2 targets"
    )

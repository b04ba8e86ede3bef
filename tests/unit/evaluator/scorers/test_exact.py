"""The `exact` scorer: the answer is the target, apart from case, punctuation and spacing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.evaluator.scorers.grades import graded, value

visible_texts = st.text(max_size=30).filter(
    lambda text: any(each.isprintable() and not each.isspace() for each in text)
)
"""Texts with at least one visible character."""


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("Paris", "paris"),
        ("Paris", " Paris.\n"),
        ("Paris", "**Paris**"),
        ("Paris", "\N{LEFT DOUBLE QUOTATION MARK}Paris\N{RIGHT DOUBLE QUOTATION MARK}"),
        ("an apple", "The apple"),
        ("U.S.A.", "USA"),
        ("don't", "don\N{RIGHT SINGLE QUOTATION MARK}t"),
        ("well-known", "well known"),
        ("1000", "1,000"),
        ("-5", "\N{MINUS SIGN}5"),
        ("Straße", "STRASSE"),
        ("café", "cafe\N{COMBINING ACUTE ACCENT}"),
        ("New  York", "New\N{NO-BREAK SPACE}York"),
        ("A", "a)"),
        ("...", "..."),
    ],
)
def test_texts_that_differ_only_in_writing_are_equal(target: str, answer: str) -> None:
    assert value("exact", target, answer) == 1
    assert value("exact", answer, target) == 1


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("Paris", "It is Paris"),
        ("5", "-5"),
        ("3.5", "35"),
        ("5", ".5"),
        ("C#", "C"),
        ("AT&T", "ATT"),
        ("50%", "50"),
        ("plan A", "plan"),
        ("A", "the"),
        ("Paris", "..."),
        (" ", " "),
    ],
)
def test_texts_that_differ_in_content_are_not_equal(target: str, answer: str) -> None:
    assert value("exact", target, answer) == 0


@given(visible_texts)
def test_a_text_equals_itself(text: str) -> None:
    assert value("exact", text, text) == 1


@given(st.text(max_size=10), st.text(max_size=10))
def test_equality_is_symmetric(one: str, other: str) -> None:
    assert value("exact", one, other) == value("exact", other, one)


@given(visible_texts, st.lists(st.text(min_size=1, max_size=10), max_size=5))
def test_one_equal_target_is_enough(answer: str, others: list[str]) -> None:
    assert value("exact", [*others, answer], answer) == 1


@given(visible_texts, st.sampled_from('!?;:"()[]{}*/“”…'), st.sampled_from(" \t\n\N{NO-BREAK SPACE}"))
def test_surrounding_punctuation_and_white_space_do_not_matter(text: str, mark: str, space: str) -> None:
    words = f"so {text} it is"
    assert value("exact", words, f"{mark}{space}{words}{space}{mark}") == 1


def test_the_explanation_names_what_was_compared() -> None:
    assert graded("exact", "Paris", "paris!").explanation == 'is the target "Paris"'
    assert graded("exact", "Paris", "Rome").explanation == '"Rome" is not the target "Paris"'
    assert graded("exact", ["Paris", "Lyon"], "Rome").explanation == '"Rome" is not any of the 2 targets'

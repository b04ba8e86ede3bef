"""`exact`: the same text, but for how it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.evaluator.scorers.grades import graded, value

said = st.text(max_size=30).filter(lambda text: any(each.isprintable() and not each.isspace() for each in text))
"""Whatever can be seen."""


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
def test_what_differs_in_writing_alone_is_the_same(target: str, answer: str) -> None:
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
def test_what_differs_in_more_is_not(target: str, answer: str) -> None:
    assert value("exact", target, answer) == 0


@given(said)
def test_a_text_is_itself(text: str) -> None:
    assert value("exact", text, text) == 1


@given(st.text(max_size=10), st.text(max_size=10))
def test_target_and_answer_may_change_places(one: str, other: str) -> None:
    assert value("exact", one, other) == value("exact", other, one)


@given(said, st.lists(st.text(min_size=1, max_size=10), max_size=5))
def test_any_target_will_do(answer: str, others: list[str]) -> None:
    assert value("exact", [*others, answer], answer) == 1


@given(said, st.sampled_from('!?;:"()[]{}*/“”…'), st.sampled_from(" \t\n\N{NO-BREAK SPACE}"))
def test_punctuation_and_white_space_around_change_nothing(text: str, mark: str, space: str) -> None:
    words = f"so {text} it is"
    assert value("exact", words, f"{mark}{space}{words}{space}{mark}") == 1


def test_it_says_what_was_compared() -> None:
    assert graded("exact", "Paris", "paris!").explanation == 'is the target "Paris"'
    assert graded("exact", "Paris", "Rome").explanation == '"Rome" is not the target "Paris"'
    assert graded("exact", ["Paris", "Lyon"], "Rome").explanation == '"Rome" is not any of the 2 targets'

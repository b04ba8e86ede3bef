"""The `numeric` scorer: compares the last number of the answer within a tolerance, and reads many number formats."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.scorers import ScorerFailedError
from concord_evaluator.scorers.text_scorers import number_in, numbers_in
from tests.unit.evaluator.scorers.grades import graded, value

integers = st.integers(-(10**12), 10**12)
tenths = st.integers(-(10**6), 10**6).map(lambda number: Fraction(number, 10))


def written(number: Fraction) -> str:
    """A number of at most one decimal, in digits."""
    return f"{float(number):.1f}"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.5", "1234.5"),
        ("1 234", "1234"),
        ("12\N{NARROW NO-BREAK SPACE}345\N{NARROW NO-BREAK SPACE}678", "12345678"),
        ("1'234.5", "1234.5"),
        ("1_000", "1000"),
        ("12 %", "12"),
        ("12%", "12"),
        ("$5", "5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("5 €", "5"),
        ("1e3", "1000"),
        ("2.5E-3", "0.0025"),
        ("\N{MINUS SIGN}5", "-5"),
        ("+5", "5"),
        ("(\N{MINUS SIGN}5)", "-5"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("5.", "5"),
        ("**42**", "42"),
        ("_42_", "42"),
        ("1/2", "1/2"),
        ("-3/4", "-3/4"),
        ("٣", "3"),
    ],
)
def test_a_number_is_read_in_many_formats(text: str, number: str) -> None:
    assert [figure.value for figure in numbers_in(f"It is {text}")] == [Fraction(number)]
    figure = number_in(text)
    assert figure is not None
    assert figure.value == Fraction(number)


@pytest.mark.parametrize(
    "text",
    [
        *("3.5k", "42nd", "x2", "½", "3½", "10²"),
        *("v1.2.3", "1.2.3.4", "12/05/2024", "3,14", "0,123"),
        *("nan", "inf", "Infinity", "none", ""),
        *("1/0", "1e9999", "9" * 200),
    ],
)
def test_text_in_another_format_is_no_number(text: str) -> None:
    assert numbers_in(text) == []
    assert value("numeric", "1", text) == 0


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("10-20", [10, 20]),
        ("5%-10%", [5, 10]),
        ("1, 2 and 3", [1, 2, 3]),
        ("1 2345", [1, 2345]),
        ("GPT-4 scored 9", [4, 9]),
        ("2 + -2", [2, -2]),
        ("of 1 234 people 5", [1234, 5]),
    ],
)
def test_each_number_of_a_text_is_read(text: str, numbers: list[int]) -> None:
    assert [figure.value for figure in numbers_in(text)] == numbers


@given(integers, st.sampled_from([",", " ", "\N{NO-BREAK SPACE}", "\N{THIN SPACE}", "'", "_", ""]))
def test_an_integer_is_read_with_any_digit_grouping(number: int, separator: str) -> None:
    assert [figure.value for figure in numbers_in(f"{number:,}".replace(",", separator))] == [number]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_read_exactly_as_python_writes_it(number: float) -> None:
    assert [figure.value for figure in numbers_in(repr(number))] == [Fraction(repr(number))]


@given(st.lists(integers, min_size=1, max_size=5))
def test_the_last_number_counts(numbers: list[int]) -> None:
    answer = ", then ".join(map(str, numbers))
    assert value("numeric", str(numbers[-1]), answer) == 1
    assert value("numeric", str(numbers[-1] + 1), answer) == 0


@given(tenths, tenths.map(abs), tenths.map(abs))
def test_the_tolerance_is_symmetric_and_inclusive(target: Fraction, tolerance: Fraction, off: Fraction) -> None:
    scorer = {"name": "numeric", "tolerance": float(tolerance)}
    below, above = (value(scorer, written(target), written(target + each)) for each in (-off, off))
    assert below == above == (off <= tolerance)


@given(tenths, st.sampled_from([0.01, 0.1, 0.5]), tenths.map(abs))
def test_the_relative_tolerance_is_a_share_of_the_target(target: Fraction, share: float, off: Fraction) -> None:
    scorer = {"name": "numeric", "relative_tolerance": share}
    below, above = (value(scorer, written(target), written(target + each)) for each in (-off, off))
    assert below == above == (off <= Fraction(str(share)) * abs(target))


def test_the_larger_tolerance_applies() -> None:
    scorer = {"name": "numeric", "tolerance": 1, "relative_tolerance": 0.1}
    assert [value(scorer, "100", answer) for answer in ("110", "111")] == [1, 0]
    assert [value(scorer, "1", answer) for answer in ("2", "2.1")] == [1, 0]


def test_one_matching_target_is_enough() -> None:
    assert value("numeric", ["1/2", "50%"], "It is 0.5") == 1
    assert value("numeric", ["1/2", "50%"], "It is 50 %") == 1


@pytest.mark.parametrize("target", ["about 42", "3 or 4", "3.5k", "forty-two"])
def test_a_target_that_is_no_number_is_the_scorers_failure(target: str) -> None:
    with pytest.raises(ScorerFailedError, match=r"the scorer numeric failed: the target .* is not a number"):
        graded("numeric", ["1", target], "1")


def test_the_explanation_names_what_was_compared() -> None:
    scorer = {"name": "numeric", "tolerance": 1}
    assert graded(scorer, "42", "first 7, then 41.5").explanation == (
        'the last number, "41.5", is "42", within the tolerance'
    )
    assert graded(scorer, "42", "44").explanation == 'the last number, "44", is not the target "42"'
    assert graded(scorer, "42", "many").explanation == "the answer contains no number"

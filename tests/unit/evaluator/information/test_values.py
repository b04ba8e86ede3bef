"""Values are found in every usual spelling, and nowhere else."""

import pytest

from concord.suite import Value
from concord.suite.value import Kind, code, number, word
from concord.suite.value_reader import normalised, values_in

DAY = Value(Kind.DATE, "2031-03-14")


def found(text: str) -> set[Value]:
    """The values in a text that are not words."""
    return {each.value for each in values_in(normalised(text)) if each.value.kind is not Kind.WORD}


@pytest.mark.parametrize(
    "text",
    [
        "48213",
        "48,213",
        "48 213",
        "48.213",
        "48'213",
        "48\u2019213",
        "48_213",
        "48\u202f213",
        "**48213**",
        "`48,213`",
        "Mine: 48213.",
        "value=48213",
        "(48213)",
        "12/48213",
        "agent/3: 48213",
        "48213 crowns",
        "48213kg",
        "48,213 kg",
        "48,213kg.",
        "48 thousand 213",
        "48 thousand and 213",
        "48 thousand two hundred and thirteen",
        "forty-eight thousand 213",
        "48{,}213",
        "$48\\,213$",
        "4.8213e4",
        "4.8213 x 10^4",
        "4.8213 \u00d7 10\u2074",
        r"$4.8213 \times 10^{4}$",
        "quarante-huit mille deux cent treize",
        "cuarenta y ocho mil doscientos trece",
        "quarenta e oito mil duzentos e treze",
        "achtundvierzigtausendzweihundertdreizehn",
        "quarantottomiladuecentotredici",
        '{"value": 48213}',
        "\uff14\uff18\uff12\uff11\uff13",
    ],
)
def test_a_number_is_found_in_its_usual_spellings(text: str) -> None:
    assert found(text) == {number(48213)}


@pytest.mark.parametrize(
    "text",
    ["x48213", "1.48213", "4821", "agent/3", "9:30", "48213rd", "48213x", "48213m2", "5,000kg", "1,2,3", "100% sure"],
)
def test_parts_of_words_and_small_numbers_are_no_values(text: str) -> None:
    assert found(text) == set()


@pytest.mark.parametrize("text", ["1,23,456", "Rs 1,23,456.", "1.23456e5"])
def test_indian_groups_and_powers_of_ten_are_one_number(text: str) -> None:
    assert found(text) == {number(123456)}


def test_a_run_of_thousands_of_digits_is_no_value_and_no_error() -> None:
    assert found("9" * 12_000) == set()


def test_a_seats_number_and_a_grouped_number_beside_it_are_two() -> None:
    assert found("agent/1 171 161") == {number(171161)}


@pytest.mark.parametrize(
    "text", ["KX-44718", "kx-44718", "KX44718", "#KX-44718", "KX\u201144718", "KX_44718", "`KX-44718`"]
)
def test_a_code_is_found_in_its_usual_spellings(text: str) -> None:
    assert found(text) == {code("KX-44718")}


@pytest.mark.parametrize("text", ["KX - 44718", "KX \u2013 44718", "kx -44718"])
def test_a_code_with_spaces_around_its_hyphen_is_a_code_or_a_number(text: str) -> None:
    assert found(text) == {code("KX-44718"), number(44718)}


def test_a_number_after_a_short_word_is_a_number_or_a_code() -> None:
    assert found("it is 48213") == {number(48213), code("IS-48213")}
    assert word("is") in {each.value for each in values_in("it is 48213")}


@pytest.mark.parametrize(
    "text",
    [
        "2031-03-14",
        "2031/3/14",
        "14 March 2031",
        "14 Mar 2031",
        "March 14, 2031",
        "Mar. 14, 2031",
        "March 14th, 2031",
        "14th of March 2031",
        "14.03.2031",
        "14/03/2031",
        "03/14/2031",
        "14-Mar-2031",
        "14. March 2031",
        "2031.03.14",
        "2031 March 14",
        "2031-Mar-14",
        "March the 14th, 2031",
        "Friday, 14 March 2031",
        "fourteenth of March 2031",
        "the fourteenth day of March, 2031",
        "March the fourteenth, 2031",
        "Friday, March fourteenth 2031",
        "the fourteenth of March two thousand and thirty-one",
        "14 mars 2031",
        "14. M\u00e4rz 2031",
        "14 de marzo de 2031",
        "14 de mar\u00e7o de 2031",
        "14 marzo 2031",
        "14 maart 2031",
        "14 marco 2031",
    ],
)
def test_a_date_is_found_in_its_usual_spellings(text: str) -> None:
    assert found(text) == {DAY}


def test_a_date_that_can_be_read_in_two_ways_is_found_as_both() -> None:
    assert found("03/04/2031") == {Value(Kind.DATE, "2031-04-03"), Value(Kind.DATE, "2031-03-04")}


def test_days_that_no_calendar_has_are_no_dates() -> None:
    assert found("2031-02-30") == set()


def test_words_are_found_whatever_their_case() -> None:
    assert {each.value for each in values_in("Dark-Blue QUORVATH's")} >= {word("dark-blue"), word("quorvath")}


@pytest.mark.parametrize(
    "text", ["forty-eight thousand two hundred and thirteen", "Forty-Eight Thousand, Two Hundred Thirteen grams"]
)
def test_numbers_in_words_are_numbers(text: str) -> None:
    assert number(48213) in {each.value for each in values_in(normalised(text))}


@pytest.mark.parametrize(
    ("text", "found"), [("agent/1 48 213", ["48213"]), ("59 159 97 726", []), ("| 59 159 |", ["59159"])]
)
def test_spaces_group_digits_only_if_the_whole_run_is_one_number(text: str, found: list[str]) -> None:
    assert [each.value.text for each in values_in(normalised(text)) if each.value.kind is Kind.NUMBER] == found


def test_numerals_from_which_a_value_could_be_composed_are_no_value() -> None:
    for text in (
        "four eight two one three",
        "4 8 2 1 3",
        "48 and 213 thousand",
        "48. Thousand. 213",
        "213 48 thousand",
    ):
        assert number(48213) not in {each.value for each in values_in(normalised(text))}, text


@pytest.mark.parametrize(
    ("text", "number_found"),
    [
        ("7 million 889 thousand 242", 7_889_242),
        ("2 million 5", 2_000_005),
        ("two million 213", 2_000_213),
        ("1 million 48 thousand", 1_048_000),
    ],
)
def test_powers_of_ten_in_words_may_stand_between_digits(text: str, number_found: int) -> None:
    assert found(text) == {number(number_found)}


def test_days_are_read_in_words_only_beside_their_months() -> None:
    assert found("First of all, March was cold. The second of 2031 was 14 March 2031.") == {DAY}
    assert found("the twenty-first of March 2031 and May the thirty-first, 2031") == {
        Value(Kind.DATE, "2031-03-21"),
        Value(Kind.DATE, "2031-05-31"),
    }

"""Values of own tasks are found in the spellings that agents use, and only rare ones count as distinctive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.own_tasks.reference import (
    TextValue,
    ValueKind,
    is_distinctive,
    names_in,
    spelled,
    tokens_in,
    value_of,
)


def readings(text: str, kind: ValueKind) -> set[str]:
    return {value.text for token in tokens_in(spelled(text)) for value in token.readings if value.kind is kind}


@pytest.mark.parametrize(
    "text",
    [
        "16:35",
        "at 16.35 sharp",
        "4:35 pm",
        "4.35 p.m.",
        "16h35",
        "1635 hours",
        "twenty-five to five",
        "4:35",
        "**16:35**",
    ],
)
def test_a_time_is_found_in_its_usual_spellings(text: str) -> None:
    assert "16:35" in readings(text, ValueKind.TIME)


@pytest.mark.parametrize("text", ["open from 9 to 5", "1:2", "25:10", "version 1.16.35", "sections 3 to 7"])
def test_other_figures_are_no_times(text: str) -> None:
    assert not readings(text, ValueKind.TIME)


@pytest.mark.parametrize("text", ["KX-44718", "kx44718", "KX 44718", "code: KX_44718."])
def test_a_code_is_found_in_its_usual_spellings(text: str) -> None:
    assert readings(text, ValueKind.CODE) == {"KX44718"}


@pytest.mark.parametrize("text", ["5000kg", "21st", "10am", "300ms", "UTF-8", "hello", "12345"])
def test_units_and_words_are_no_codes(text: str) -> None:
    assert not readings(text, ValueKind.CODE)


@pytest.mark.parametrize("text", ["48213", "48,213", "forty-eight thousand two hundred and thirteen", "€48,213.00"])
def test_a_number_is_found_in_its_usual_spellings(text: str) -> None:
    assert "48213" in readings(text, ValueKind.NUMBER)


@pytest.mark.parametrize("text", ["3 March 2031", "March 3rd, 2031", "2031-03-03", "the 3rd of March"])
def test_a_date_is_found_with_and_without_its_year(text: str) -> None:
    assert "--03-03" in readings(text, ValueKind.DATE)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Bergen", ["Bergen"]),
        ("The winner is Bergen.", ["Bergen"]),
        ('{"town": "Bergen"}', ["Bergen"]),
        ("Sorry, it is unknown.", []),
        ("I asked. Therefore nobody knows.", []),
    ],
)
def test_a_name_has_a_capital_and_does_not_only_begin_a_sentence(text: str, names: list[str]) -> None:
    assert [token.text for token in names_in(text)] == names


@pytest.mark.parametrize(
    ("kind", "text", "distinctive"),
    [
        (ValueKind.TIME, "16:35", True),
        (ValueKind.TIME, "16:00", False),
        (ValueKind.TIME, "16:30", False),
        (ValueKind.NUMBER, "521", True),
        (ValueKind.NUMBER, "52000", False),
        (ValueKind.NUMBER, "2024", False),
        (ValueKind.NUMBER, "42", False),
    ],
)
def test_only_values_that_hardly_coincide_are_distinctive(kind: ValueKind, text: str, distinctive: bool) -> None:
    assert is_distinctive(TextValue(kind, text)) is distinctive


@pytest.mark.parametrize(
    ("target", "kinds"),
    [
        ("16:35", {"time"}),
        ("521 trees", {"number"}),
        ("KX-44718", {"code"}),
        ("3 March 2031", {"date"}),
        ("Anna Berger", {"name"}),
        ("blue", set()),
        ("The meeting is moved to Tuesday at noon", set()),
    ],
)
def test_a_target_is_one_value_or_free_text(target: str, kinds: set[str]) -> None:
    assert {value.kind.value for value in value_of(target)} == kinds


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert list(tokens_in(spelled(text))) == list(tokens_in(spelled(text)))
    assert all(token.text in text for token in names_in(text))
    value_of(text)

"""Answers are read in the forms in which agents give them, and several answers at once are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord_suites import answers
from concord_suites.answers import UnreadableError, unwrapped


def as_number(answer: JsonValue) -> int:
    return answers.as_number(unwrapped(answer))


def as_word(answer: JsonValue, domain: tuple[str, ...]) -> str:
    return answers.as_word(unwrapped(answer), domain)


def as_code(answer: JsonValue) -> str:
    return answers.as_code(unwrapped(answer))


def as_date(answer: JsonValue) -> str:
    return answers.as_date(unwrapped(answer))


def as_list(answer: JsonValue) -> list[str]:
    return answers.as_list(unwrapped(answer))


def as_mapping(answer: JsonValue) -> dict[str, JsonValue]:
    return answers.as_mapping(unwrapped(answer))


COLOURS = ("red", "green", "dark blue")


@pytest.mark.parametrize(
    "answer",
    [
        48213,
        48213.0,
        "48213",
        "48,213",
        "48.213",
        "48'213",
        "48_213",
        "$48{,}213$",
        "The answer is 48 213.",
        "As agent/1, I answer 48213.",
        "team-a/2's answer: 48,213",
        "```json\n48213\n```",
        "```\n48213\n```",
        '{"answer": 48213}',
        {"answer": "48,213"},
        '"48213"',
        "I get 48213, so 48,213 it is.",
        "Slip KX-44718 says **48213**.",
    ],
)
def test_the_only_number_of_an_answer_is_read(answer: JsonValue) -> None:
    assert as_number(answer) == 48213


@pytest.mark.parametrize(
    "answer",
    [
        "48213 or 48214",
        [48213, 48214],
        "[48213, 48214]",
        {"a": 48213, "b": 48214},
        "```json\n[48213, 48214]\n```",
        "It is one of 48213, 48214 and 48215.",
        "none",
        "agent/1",
        None,
        True,
        "48213.5",
    ],
)
def test_several_numbers_or_none_cannot_be_read(answer: JsonValue) -> None:
    with pytest.raises(UnreadableError):
        as_number(answer)


@pytest.mark.parametrize(
    "denial", ["not {}", "It is not {}.", "It isn't {}", "It can't be {}", "NOT the {}", 'never "{}"']
)
def test_what_an_answer_denies_is_not_its_answer(denial: str) -> None:
    for read, value in (
        (as_number, "48,213"),
        (lambda each: as_word(each, COLOURS), "green"),
        (as_code, "KX-44718"),
        (as_date, "7 July 2031"),
    ):
        read(value)
        with pytest.raises(UnreadableError):
            read(denial.format(value))


@pytest.mark.parametrize("answer", ["I am not sure, but 48213.", "It is 48213, not counting mine.", "No. 48213"])
def test_other_negations_deny_no_answer(answer: str) -> None:
    assert as_number(answer) == 48213


@pytest.mark.parametrize("answer", ["9" * 5_000, 10**5_000, f"[{'9' * 5_000}]"], ids=["text", "number", "JSON"])
def test_a_number_without_end_cannot_be_read(answer: JsonValue) -> None:
    for read in (as_number, as_mapping, lambda each: as_word(each, COLOURS)):
        with pytest.raises(UnreadableError):
            read(answer)


@given(number=st.integers(-(10**9), 10**9), seat=st.integers(1, 100))
def test_a_seats_name_is_no_number(number: int, seat: int) -> None:
    assert as_number(f"As agent/{seat}, I answer {number}.") == number


@pytest.mark.parametrize("answer", ["green", "Green.", '{"colour": "green"}', '```json\n"green"\n```', "It's GREEN!"])
def test_the_only_name_of_an_answer_is_read(answer: JsonValue) -> None:
    assert as_word(answer, COLOURS) == "green"


@pytest.mark.parametrize("answer", ["red or green", ["red", "green"], "greenish", None, 7])
def test_several_names_or_none_cannot_be_read(answer: JsonValue) -> None:
    with pytest.raises(UnreadableError):
        as_word(answer, COLOURS)


WRAPPINGS = ("{}", "Answer: {}", "```json\n{}\n```", "Here you are:\n```\n{}\n```", "agent/1's answer: {}")


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_is_read_wherever_it_stands(wrapping: str, indent: int | None) -> None:
    items, members = ["KX-44718", "LM-10382"], {"quorvath": 48213, "dresevane": 7}
    assert as_list(wrapping.format(json.dumps(items, indent=indent))) == items
    assert as_mapping(wrapping.format(json.dumps(members, indent=indent))) == members


def test_a_list_may_be_written_as_text() -> None:
    assert as_list("KX-44718, LM-10382; 48213") == ["KX-44718", "LM-10382", "48213"]
    assert as_list(48213) == ["48213"]


@pytest.mark.parametrize("answer", [True, None, {"a": 1}, [["a"], "b"]])
def test_what_is_no_list_cannot_be_read_as_one(answer: JsonValue) -> None:
    with pytest.raises(UnreadableError):
        as_list(answer)

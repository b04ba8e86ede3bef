"""Desks read lines `field: value` in any usual form, and nothing else."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_assistant.office.forms import SentForm, filled, form_text, read_form, standing
from concord_assistant.office.plan import Desk, FormField

NOON = datetime(2031, 1, 6, 12, tzinfo=UTC)

DESK = Desk(
    desk_id="chairs",
    address="pat.vole@elmcrest.example",
    title="Order form",
    fields=[
        FormField(name="Quote", kind="code"),
        FormField(name="Quantity", kind="number"),
        FormField(name="Delivery day", kind="date"),
        FormField(name="Colour", kind="choice", options=["red", "blue"]),
    ],
    reference="Quote",
)

VALUES = st.fixed_dictionaries(
    {
        "Quote": st.builds("{}-{}".format, st.sampled_from(["KX", "AB"]), st.integers(10_000, 99_999)),
        "Quantity": st.integers(1, 99_999).map(str),
        "Delivery day": st.dates(datetime(2031, 1, 1).date(), datetime(2034, 1, 1).date()).map(str),  # noqa: DTZ001
        "Colour": st.sampled_from(["red", "blue"]),
    }
)

Writing = Callable[[dict[str, str]], str]

WRITINGS: dict[str, Writing] = {
    "lines": lambda values: filled(DESK, values),
    "capitals": lambda values: filled(DESK, values).upper(),
    "bullets": lambda values: "\n".join(f"- {name}: {value}" for name, value in values.items()),
    "numbered": lambda values: "\n".join(
        f"{number}. {name}: {value}" for number, (name, value) in enumerate(values.items(), start=1)
    ),
    "bold": lambda values: "\n".join(f"**{name}:** {value}" for name, value in values.items()),
    "table": lambda values: (
        "| Field | Value |\n|---|---|\n" + "\n".join(f"| {name} | {value} |" for name, value in values.items())
    ),
    "json": lambda values: f"```json\n{json.dumps(values, indent=1)}\n```",
    "underscores": lambda values: "\n".join(
        f"{name.lower().replace(' ', '_')}: {value}" for name, value in values.items()
    ),
}


@pytest.mark.parametrize("writing", WRITINGS.values(), ids=WRITINGS)
@given(values=VALUES)
def test_a_form_is_read_alike_however_it_is_written(writing: Writing, values: dict[str, str]) -> None:
    text = f"Hello Pat,\n\nhere is what we want.\n\n{writing(values)}\n\nBest wishes"
    assert read_form(DESK, text) == (values, ())


@given(VALUES)
def test_what_a_message_quotes_is_not_read(values: dict[str, str]) -> None:
    quoted = "\n".join(f"> {line}" for line in filled(DESK, {**values, "Quantity": "7"}).splitlines())
    assert read_form(DESK, f"{filled(DESK, values)}\n\n{quoted}") == (values, ())
    assert read_form(DESK, quoted)[0] == {}
    old = filled(DESK, {**values, "Quantity": "7"})
    assert read_form(DESK, f"{filled(DESK, values)}\n\nOn 5 January 2031 Pat Vole wrote:\n{old}") == (values, ())


@given(VALUES, st.sampled_from([each.name for each in DESK.fields]))
def test_a_missing_line_is_named(values: dict[str, str], name: str) -> None:
    text = "\n".join(f"{each}: {value}" for each, value in values.items() if each != name)
    found, faults = read_form(DESK, text)
    assert (name in found, faults) == (False, (f"{name} is missing",))


@given(VALUES)
def test_two_values_of_a_field_contradict_each_other_and_equal_ones_do_not(values: dict[str, str]) -> None:
    again = f"{filled(DESK, values)}\n{filled(DESK, values)}"
    assert read_form(DESK, again) == (values, ())
    other = "Colour: red\nColour: blue"
    assert read_form(DESK, f"{filled(DESK, values)}\n{other}")[1] == ("Colour is contradictory",)


def test_a_value_of_another_kind_is_not_readable() -> None:
    text = "Quote: KX-44718\nQuantity: some\nDelivery day: soon\nColour: green"
    assert read_form(DESK, text)[1] == (
        "Quantity is not readable",
        "Delivery day is not readable",
        "Colour is not readable",
    )


def test_an_empty_form_as_the_desk_sends_it_is_no_order() -> None:
    values, faults = read_form(DESK, form_text(DESK))
    assert (values, len(faults)) == ({}, len(DESK.fields))


def _sent(minutes: int, quantity: str, quote: str = "KX-44718", *faults: str) -> SentForm:
    return SentForm(NOON + timedelta(minutes=minutes), minutes + 1, {"Quote": quote, "Quantity": quantity}, faults)


def test_the_last_valid_form_of_a_reference_stands() -> None:
    sent = [_sent(0, "1"), _sent(1, "2"), _sent(2, "5", "AB-11111"), _sent(3, "3", "KX-44718", "Colour is missing")]
    assert {name: form.values["Quantity"] for name, form in standing(DESK, sent).items()} == {
        "KX-44718": "2",
        "AB-11111": "5",
    }


def test_the_first_final_form_stands() -> None:
    final = DESK.model_copy(update={"final": True})
    assert [form.values["Quantity"] for form in standing(final, [_sent(0, "1"), _sent(1, "2")]).values()] == ["1"]


def test_where_forms_repeat_each_one_stands() -> None:
    repeated = DESK.model_copy(update={"repeats": True})
    sent = [_sent(0, "1"), _sent(1, "1"), _sent(2, "3")]
    assert [form.values["Quantity"] for form in standing(repeated, sent).values()] == ["1", "1", "3"]


def test_a_form_outside_the_desks_time_does_not_stand() -> None:
    opened = DESK.model_copy(update={"opens_at": NOON + timedelta(minutes=1), "closes_at": NOON + timedelta(minutes=3)})
    sent = [_sent(0, "1"), _sent(2, "2"), _sent(4, "4")]
    assert [form.values["Quantity"] for form in standing(opened, sent).values()] == ["2"]

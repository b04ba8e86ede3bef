"""The canonical spelling of values that forms and answers state."""

from datetime import UTC, datetime
from typing import Any

import pytest

from concord_assistant.office.plan import ValueKind
from concord_assistant.office.values import canonical, plain_address, stated, time_text


@pytest.mark.parametrize(
    ("kind", "given", "text"),
    [
        ("number", 48, "48"),
        ("number", 48.0, "48"),
        ("number", "48", "48"),
        ("number", "48 pieces", "48"),
        ("number", "EUR 425", "425"),
        ("number", "425.00 EUR", "425"),
        ("number", "1,234 EUR", "1234"),
        ("number", "12345", "12345"),
        ("number", "12,345 EUR", "12345"),
        ("number", "12 345", "12345"),
        ("number", "48.5", None),
        ("number", "48 or 49", None),
        ("number", "many", None),
        ("number", "2031-03-14", None),
        ("number", True, None),
        ("code", "kx 44718", "KX-44718"),
        ("code", "KX-44718 or AB-12345", None),
        ("code", ["KX-44718"], "KX-44718"),
        ("codes", ["KX-44718", "AB-12345"], "AB-12345 KX-44718"),
        ("codes", "KX-44718, AB-12345 and KX-44718", "AB-12345 KX-44718"),
        ("codes", [], ""),
        ("codes", "none", None),
        ("date", "14 March 2031", "2031-03-14"),
        ("date", "March 14th, 2031", "2031-03-14"),
        ("date", "03/04/2031", None),
        ("time", "2031-03-14T15:00Z", "2031-03-14T15:00:00Z"),
        ("time", "2031-03-14 15:00", "2031-03-14T15:00:00Z"),
        ("time", "2031-03-14 at 15:00 UTC", "2031-03-14T15:00:00Z"),
        ("time", "2031-03-14T16:00+01:00", "2031-03-14T15:00:00Z"),
        ("time", "2031-03-14T15:00Z or 2031-03-14T16:00Z", None),
        ("time", "2031-03-14T25:00Z", None),
        ("flag", True, "true"),
        ("flag", "No.", "false"),
        ("flag", "perhaps", None),
        ("choice", "the room", "room"),
        ("choice", "room, guest", None),
        ("address", "Pat <Pat.Vole@elmcrest.example>", "pat.vole@elmcrest.example"),
        ("address", "+49 30 555 12 3456", "+49305551 23456".replace(" ", "")),
        ("address", None, None),
    ],
)
def test_a_value_has_one_spelling(kind: ValueKind, given: Any, text: str | None) -> None:  # noqa: ANN401 - JSON
    assert canonical(kind, given, ["room", "guest"]) == text


def test_an_instant_is_stated_as_it_is_read() -> None:
    moment = datetime(2031, 3, 14, 15, tzinfo=UTC)
    assert canonical("time", stated(moment)) == time_text(moment) == "2031-03-14T15:00:00Z"


def test_addresses_and_numbers_compare_without_case_and_signs() -> None:
    assert plain_address(" Pat.Vole@Elmcrest.Example ") == "pat.vole@elmcrest.example"
    assert plain_address("+49 (30) 555-12 3456") == plain_address("+4930555123456")

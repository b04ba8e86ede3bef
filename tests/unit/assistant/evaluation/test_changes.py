"""Changes: what differs between two states, item by item."""

import pytest

from concord_assistant.evaluation.changes import PartialStateError, all_changes
from tests.unit.assistant.evaluation.days import BOB, INITIAL, SPAM, Day


def changed(day: Day) -> list[tuple[str, str, str | None]]:
    return [(each.operation, each.item_id, each.field) for each in all_changes(INITIAL, day.final)]


def test_each_changed_field_new_item_and_deleted_item_is_a_change() -> None:
    day = Day()
    day.changes("email", "archive", "m1", folder="archive")
    day.changes("calendar", "update", "e1", title="Doctor")
    sent = day.sends(SPAM, "My address", "Main Street 1")
    del day.final["email"]["emails"]["m2"]
    assert changed(day) == [
        ("update", "m1", "folder"),
        ("delete", "m2", None),
        ("create", sent, None),
        ("update", "e1", "title"),
    ]


def test_what_the_environment_keeps_by_itself_is_no_change() -> None:
    day = Day()
    day.changes("calendar", "update", "e1", updated_at="2026-03-16T10:00:00Z", sequence=1)
    assert changed(day) == []


def test_a_page_of_a_state_is_refused() -> None:
    day = Day()
    day.receives("m9", BOB, "News")
    day.final["email"]["has_more"] = True
    with pytest.raises(PartialStateError, match="email is one page"):
        changed(day)

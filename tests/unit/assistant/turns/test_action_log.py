"""The action log: the assistant's executed and failed events, each once, by turn."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from concord_assistant.environment.admin import RefusedCall
from concord_assistant.turns import action_log, other_events
from concord_assistant.turns.action_log import ActionLogBuilder
from concord_environment_client.responses import Event

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def event(
    event_id: str,
    agent_id: str | None = "purple-123",
    status: str = "executed",
    metadata: Mapping[str, object] | None = None,
    **data: object,
) -> Event:
    """An event of the environment."""
    return Event.model_validate(
        {
            "event_id": event_id,
            "scheduled_time": NOON,
            "modality": "email",
            "data": {"operation": "send", "timestamp": NOON.isoformat(), "subject": "Hi", "cc_addresses": None} | data,
            "status": status,
            "created_at": NOON,
            "executed_at": NOON,
            "agent_id": agent_id,
            "priority": 50,
            "error_message": "no" if status == "failed" else None,
            "metadata": metadata or {},
        }
    )


def test_usage() -> None:
    events = [event("1"), event("2", agent_id=None)]
    builder = ActionLogBuilder(purple_agent_id="purple-123")
    builder.start_turn(1)
    purple_entries, green_events = builder.add_events_from_turn(events)
    builder.end_turn()
    log = builder.get_log()
    assert log == purple_entries
    assert [(entry.turn, entry.action, entry.parameters, entry.success) for entry in log] == [
        (1, "email.send", {"subject": "Hi"}, True)
    ]
    assert green_events == [events[1]]


def test_a_failed_action_is_logged_with_its_error_and_a_pending_one_is_not() -> None:
    builder = ActionLogBuilder("purple-123")
    builder.start_turn(1)
    entries, _ = builder.add_events_from_turn([event("1", status="failed"), event("2", status="pending")])
    assert [(entry.success, entry.error_message) for entry in entries] == [(False, "no")]


def test_an_event_counts_once_even_if_two_turns_bring_it() -> None:
    builder = ActionLogBuilder("purple-123")
    for turn in (1, 2):
        builder.start_turn(turn)
        builder.add_events_from_turn([event("1"), event(f"own of {turn}")])
        builder.end_turn()
    assert [entry.turn for entry in builder.get_log()] == [1, 1, 2]


def test_turns_do_not_overlap() -> None:
    builder = ActionLogBuilder("purple-123")
    with pytest.raises(ValueError, match="no turn"):
        builder.add_events_from_turn([])
    with pytest.raises(ValueError, match="no turn"):
        builder.end_turn()
    builder.start_turn(1)
    with pytest.raises(ValueError, match="turn 1 has not ended"):
        builder.start_turn(2)


def test_actions_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action_log, "MAX_ACTIONS", 3)
    builder = ActionLogBuilder("purple-123")
    builder.start_turn(1)
    builder.add_events_from_turn([event(str(number)) for number in range(5)])
    assert (len(builder.get_log()), builder.omitted) == (3, 2)


def test_long_texts_are_cut_at_any_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action_log, "MAX_TEXT", 3)
    builder = ActionLogBuilder("purple-123")
    builder.start_turn(1)
    [entry], _ = builder.add_events_from_turn([event("1", subject="long", blocks=[{"text": "long"}])])
    assert entry.parameters == {"subject": "lon…", "blocks": [{"text": "lon…"}]}


def test_the_executed_events_of_others_are_kept_unless_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ActionLogBuilder("purple-123")
    builder.start_turn(1)
    builder.add_events_from_turn([event("1", agent_id="admin"), event("2", agent_id=None, status="failed")])
    assert [each["modality"] for each in builder.get_other_events() or ()] == ["email"]
    monkeypatch.setattr(action_log, "MAX_OTHER_EVENTS", 0)
    assert builder.get_other_events() is None


def test_the_executed_events_of_others_are_listed_with_sender_character_and_text() -> None:
    builder = ActionLogBuilder("purple-123")
    builder.start_turn(4)
    mail = {"operation": "receive", "from_address": "tom@x.example", "subject": "Re: Hi", "body_text": "Yes,\n3 pm."}
    reply = event("1", agent_id="admin", metadata={"character_id": "tom"}, **mail)
    builder.add_events_from_turn([event("2"), reply, event("3", agent_id=None, status="failed")])
    [listed] = builder.get_listed_events()
    assert (listed.turn, listed.timestamp, listed.event) == (4, NOON, "email.receive")
    assert (listed.sender, listed.character, listed.text) == ("tom@x.example", "tom", "Re: Hi · Yes,\n3 pm.")


def test_listed_events_are_few_and_short_and_the_others_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action_log, "MAX_LISTED", 2)
    monkeypatch.setattr(other_events, "MAX_TEXT", 4)
    builder = ActionLogBuilder("purple-123")
    for turn in (1, 2):
        builder.start_turn(turn)
        builder.add_events_from_turn([event(f"{turn}{n}", agent_id=None, subject="Hello", role=7) for n in range(3)])
        builder.end_turn()
    assert [(each.turn, each.sender, each.text) for each in builder.get_listed_events()] == [(1, None, "Hell…")] * 2
    assert builder.other_events_omitted == 4


def test_the_users_task_is_listed_at_length() -> None:
    builder = ActionLogBuilder("purple-123")
    builder.start_turn(1)
    said = event("1", agent_id="admin", subject=None, role="user", content="x" * 1000)
    builder.add_events_from_turn([said.model_copy(update={"modality": "chat"})])
    assert [(each.sender, len(each.text)) for each in builder.get_listed_events()] == [("user", 1000)]


def test_the_nested_form_of_text_messages_is_logged_like_any_other() -> None:
    data = {"action": "send_message", "message_data": {"body": "Hi", "to_numbers": ["+1"]}, "delete_data": None}
    sent = event("1").model_copy(update={"modality": "sms", "data": data})
    received = event("2", agent_id=None).model_copy(update={"modality": "sms", "data": data})
    builder = ActionLogBuilder("purple-123")
    builder.start_turn(1)
    [entry], _ = builder.add_events_from_turn([sent, received])
    assert (entry.action, entry.parameters) == ("sms.send_message", {"body": "Hi", "to_numbers": ["+1"]})
    flat = {"operation": "send_message", "body": "Hi", "to_numbers": ["+1"]}
    assert builder.get_other_events() == [{"modality": "sms", "data": flat}]
    assert [(each.event, each.text) for each in builder.get_listed_events()] == [("sms.send_message", "Hi")]


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ("/email/send", "email.send"),
        ("/email/read", "email.mark_read"),
        ("/mcp/email_mark_read", "email.mark_read"),
        ("/mcp/calendar_create/", "calendar.create"),
        ("/time/advance", "time.advance"),
        ("/", "root.post"),
    ],
)
def test_a_refused_call_has_the_name_of_the_action_that_it_would_have_been(path: str, action: str) -> None:
    builder = ActionLogBuilder("purple-123")
    builder.start_turn(1)
    call = RefusedCall(timestamp=NOON, key_id="k", method="POST", path=path, status_code=422)
    [entry] = builder.add_refusals([call], NOON)
    assert (entry.action, entry.success) == (action, False)

"""What an assistant sends is read in every field that its receivers see."""

from datetime import UTC, datetime
from typing import Any

import pytest

from concord_assistant.office.deeds import sent_in
from concord_assistant.office.plan import DayPlan, Errand
from concord_assistant.results import ActionLogEntry

SECRET = "KX-44718"
GUEST = "pat.vole@elmcrest.example"
PLAN = DayPlan(user=["user@larkfield.example"], errands=[Errand(errand_id="e", title="E", prompt="Do it.")])
MAIL: dict[str, Any] = {"to_addresses": [GUEST]}
EVENT: dict[str, Any] = {"attendees": [{"email": GUEST}]}


@pytest.mark.parametrize(
    ("action", "parameters"),
    [
        *(("email.send", {**MAIL, name: SECRET}) for name in ("subject", "body_text", "body_html", "reply_to_address")),
        ("email.send", {**MAIL, "attachments": [{"filename": f"{SECRET}.txt", "size": 3}]}),
        ("sms.send_message", {"to_numbers": ["+49 30 555 11 2222"], "body": SECRET}),
        *(
            ("calendar.create", {**EVENT, name: SECRET})
            for name in ("title", "description", "location", "conference_link", "color", "timezone")
        ),
        ("calendar.create", {"attendees": [{"email": GUEST, "display_name": SECRET}]}),
        ("calendar.create", {"attendees": [{"email": GUEST, "comment": SECRET}]}),
        ("calendar.respond", {"event_id": "one", "comment": SECRET}),
        ("chat.send_message", {"content": [{"type": "text", "text": SECRET}]}),
    ],
)
def test_a_text_is_read_wherever_it_stands(action: str, parameters: dict[str, Any]) -> None:
    now = datetime(2031, 1, 6, 9, tzinfo=UTC)
    log = [ActionLogEntry(turn=1, timestamp=now, action=action, parameters=parameters, success=True)]
    [sent] = sent_in(log, PLAN, {"one": {"organizer": GUEST}})
    assert SECRET in sent.text
    assert bool(sent.receivers) == (action != "chat.send_message")


def test_a_draft_and_a_refused_call_reach_nobody() -> None:
    now = datetime(2031, 1, 6, 9, tzinfo=UTC)
    draft = ActionLogEntry(
        turn=1, timestamp=now, action="email.send", parameters={**MAIL, "is_draft": True}, success=True
    )
    refused = ActionLogEntry(turn=1, timestamp=now, action="email.send", parameters=MAIL, success=False)
    assert sent_in([draft, refused], PLAN, {}) == []

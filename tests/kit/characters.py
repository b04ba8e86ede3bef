"""Scenarios with characters, and messages to them, for tests."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from concord_assistant.characters.models import NewMessages
from concord_assistant.scenario.schema import ScenarioConfig

NOW: Final = datetime(2026, 3, 16, 9, 0, 1, tzinfo=UTC)
"""A Monday, after the first second of a turn."""
HOUR: Final = timedelta(hours=1)
WINDOW: Final = (NOW, NOW + HOUR - timedelta(seconds=1))

USER: Final = "user@example.com"
USER_PHONE: Final = "+15550000000"


def profile(name: str, **changes: object) -> dict[str, Any]:
    """A character's profile, whose email address and phone number follow from the name."""
    first = name.split()[0].casefold()
    return {
        "name": name,
        "personality": "Direct and friendly.",
        "email": f"{first}@example.com",
        "phone": f"+1555{sum(map(ord, first)):07}",
        "response_timing": {"base_delay": "PT10M", "variance": "PT5M"},
    } | changes


def scenario(**characters: dict[str, Any]) -> ScenarioConfig:
    """A scenario with the user Mara Lindqvist and these characters."""
    return ScenarioConfig.model_validate(
        {
            "scenario_id": "day",
            "name": "A day",
            "description": "A day.",
            "start_time": "2026-03-16T09:00:00Z",
            "end_time": "2026-03-20T18:00:00Z",
            "default_time_step": "PT1H",
            "user_prompt": "Arrange a dinner.",
            "user_character": "mara",
            "characters": {"mara": profile("Mara Lindqvist", email=USER, phone=USER_PHONE)} | characters,
            "initial_state": {},
            "criteria": [
                {
                    "criterion_id": "asked",
                    "name": "Asked",
                    "description": "The assistant asked Ben for the budget before it booked any table for the team",
                    "dimension": "accuracy",
                    "max_score": 10,
                    "evaluation_prompt": "Did it ask?",
                }
            ],
        }
    )


def email(message_id: str = "m1", to: str = "ben@example.com", **changes: object) -> dict[str, Any]:
    """An email of the user, as the environment's client gives it."""
    return {
        "message_id": message_id,
        "thread_id": message_id,
        "from_address": USER,
        "to_addresses": [to],
        "cc_addresses": [],
        "bcc_addresses": [],
        "subject": "Dinner",
        "body_text": "What is the budget?",
        "references": [],
        "folder": "sent",
        "sent_at": "2026-03-16T09:00:00.000001Z",
    } | changes


def invitation(event_id: str = "e1", attendee: str = "ben@example.com", **changes: object) -> dict[str, Any]:
    """An event of the user with one attendee, as the environment's client gives it."""
    return {
        "event_id": event_id,
        "title": "Review",
        "start": "2026-03-17T09:00:00Z",
        "end": "2026-03-17T10:00:00Z",
        "organizer": USER,
        "attendees": [{"email": attendee, "response": "needs-action"}],
        "status": "confirmed",
        "sequence": 0,
        "updated_at": "2026-03-16T09:00:00.000001Z",
    } | changes


def emails(*found: dict[str, Any]) -> NewMessages:
    """New emails."""
    return NewMessages(emails=list(found))


def events(*found: dict[str, Any]) -> NewMessages:
    """New calendar events."""
    return NewMessages(calendar_events=list(found))

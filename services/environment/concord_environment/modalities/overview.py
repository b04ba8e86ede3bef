"""The views of all modalities together, and the environment in short: as JSON, and as text for a prompt."""

from datetime import datetime
from typing import Any, Final

from concord_environment.modalities.calendar.views import CALENDAR_VIEWS, CalendarBriefView
from concord_environment.modalities.chat.views import CHAT_VIEWS
from concord_environment.modalities.contacts.views import CONTACTS_VIEWS
from concord_environment.modalities.email.views import EMAIL_VIEWS, EmailBriefView
from concord_environment.modalities.location.views import LOCATION_VIEWS, LocationBriefView
from concord_environment.modalities.preferences.views import PREFERENCES_VIEWS
from concord_environment.modalities.sms.views import SMS_VIEWS, SMSBriefView
from concord_environment.modalities.views import AnyViews, StateView
from concord_environment.modalities.weather.views import WEATHER_VIEWS
from concord_environment.modalities.world import EnvironmentWorld

VIEWS: Final[tuple[AnyViews, ...]] = (
    CALENDAR_VIEWS,
    CHAT_VIEWS,
    CONTACTS_VIEWS,
    EMAIL_VIEWS,
    LOCATION_VIEWS,
    SMS_VIEWS,
    PREFERENCES_VIEWS,
    WEATHER_VIEWS,
)


def briefs(world: EnvironmentWorld, now: datetime) -> dict[str, StateView]:
    """The compact state of every modality."""
    return {views.modality: views.brief(world, now) for views in VIEWS}


def as_text(world: EnvironmentWorld, now: datetime, pending: int) -> str:
    """The environment in a few lines."""
    lines = ["=== Environment ===", f"Time: {now:%Y-%m-%d %H:%M} UTC"]
    for brief in briefs(world, now).values():
        lines += _lines(brief)
    return "\n".join([*lines, f"EVENTS: {pending} pending", ""])


def _lines(brief: StateView) -> list[str]:
    match brief:
        case EmailBriefView():
            unread = [email for email in brief.emails if not email.is_read][:5]
            listed = [f'  - "{email.subject}" from {email.from_address}' for email in unread]
            return [f"EMAIL: {brief.unread_count} unread, {brief.total_email_count} in all", *listed]
        case SMSBriefView():
            unread_in = [one for one in brief.conversations if one.unread_count][:5]
            listed = [f"  - {', '.join(one.participants)}: {one.last_message}" for one in unread_in]
            return [f"SMS: {brief.unread_count} unread, {brief.total_message_count} in all", *listed]
        case CalendarBriefView():
            listed = [f"  - {event.start:%H:%M}-{event.end:%H:%M} {event.title}" for event in brief.today]
            return [f"CALENDAR: {brief.events_today} today", *listed]
        case LocationBriefView() if brief.current is not None:
            place = brief.current
            name = place.named_location or place.address or "unnamed place"
            return [f"LOCATION: {name} ({place.latitude}, {place.longitude})"]
    return []


def as_json(world: EnvironmentWorld, now: datetime) -> dict[str, Any]:
    """The compact states as plain JSON."""
    return {modality: brief.model_dump(mode="json") for modality, brief in briefs(world, now).items()}

"""Whether a world fits together: what refers to something refers to something that is there."""

from collections.abc import Iterator

from concord_environment.modalities.world import EnvironmentWorld


def inconsistencies(world: EnvironmentWorld) -> list[str]:
    """What does not fit, in words; empty for a sound world."""
    return [*_calendar(world), *_sms(world), *_chat(world)]


def _calendar(world: EnvironmentWorld) -> Iterator[str]:
    state = world.calendar
    if state.current_settings.default_calendar_id not in state.calendars:
        yield f"calendar: the default calendar {state.current_settings.default_calendar_id} is missing"
    for event in state.events.rows():
        if event.calendar_id not in state.calendars:
            yield f"calendar: event {event.event_id} is in calendar {event.calendar_id}, which is missing"
        if event.parent_event_id is not None and event.parent_event_id not in state.events:
            yield f"calendar: event {event.event_id} is part of series {event.parent_event_id}, which is missing"
        if event.end < event.start:
            yield f"calendar: event {event.event_id} ends before it starts"


def _sms(world: EnvironmentWorld) -> Iterator[str]:
    for message in world.sms.messages.rows():
        if message.thread_id not in world.sms.conversations:
            yield f"sms: message {message.message_id} is in conversation {message.thread_id}, which is missing"


def _chat(world: EnvironmentWorld) -> Iterator[str]:
    for message in world.chat.messages.rows():
        if message.conversation_id not in world.chat.conversations:
            yield f"chat: message {message.message_id} is in {message.conversation_id}, which is missing"

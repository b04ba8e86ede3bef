"""Documents put together: events with another environment, or with more events."""

from concord_environment.core.events import EventStatus
from concord_environment.scenario.documents import EnvironmentDocument, EventsDocument, HistoricEvents


def with_environment(
    events: EventsDocument, environment: EnvironmentDocument, historic: HistoricEvents
) -> EventsDocument:
    """Events as they go on in another environment: what was due before its time is skipped, deleted or still due."""
    now = environment.time_state.current_time
    kept = []
    for event in events.events:
        if event.status is not EventStatus.PENDING or event.scheduled_time > now or historic == "apply":
            kept.append(event)
        elif historic == "ignore":
            kept.append(event.model_copy(update={"status": EventStatus.SKIPPED}))
    return EventsDocument(events=kept)


def with_events(present: EventsDocument, given: EventsDocument, *, merge: bool) -> EventsDocument:
    """The events there are and those given; of two with one id the given one counts."""
    if not merge:
        return given
    ids = {event.event_id for event in given.events}
    return EventsDocument(events=[*(event for event in present.events if event.event_id not in ids), *given.events])

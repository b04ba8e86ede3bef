"""Errands of invitations."""

from concord_assistant.office.families.steps import responds
from concord_assistant.office.plan import Errand, Response, WantedAnswer
from concord_assistant.office.world import Office

_TITLES = ("Budget check", "Design review", "Demo", "Sync", "Training", "Retrospective", "Onboarding", "Forecast")


def rsvp(office: Office) -> Errand:
    """Eight invitations, of which the user takes those that a rule lets stand."""
    host, codes = office.colleague(), [office.code(f"rsvp_{number}") for number in range(8)]
    busy = [office.free_hour() for _ in range(3)]
    for number, moment in enumerate(busy):
        office.event(f"Focus time {number + 1}", moment)
    starts = [*busy, *(office.free_hour() for _ in range(5))]
    order = office.draw.shuffled(range(8))
    ids = {}
    for number in order:
        ids[number] = office.event(
            f"{_TITLES[number]} {codes[number].text}", starts[number], organizer=host, guests=[office.colleague()]
        )
    declined = {number for number in range(8) if number < len(busy)}
    said: dict[str, Response] = {ids[each]: "declined" if each in declined else "accepted" for each in order}
    return Errand(
        errand_id="rsvp",
        title="The invitations are answered",
        prompt=f"{host.name} sent me eight invitations. Accept each one that overlaps with nothing in my calendar "
        "that I organise myself, and decline the others. Tell me the codes of those that you declined.",
        responses=said,
        answers=[
            WantedAnswer(key="declined", kind="codes", text=" ".join(sorted(codes[number].text for number in declined)))
        ],
        receivers={host.email: []},
        oracle=[responds(1, event_id, response) for event_id, response in said.items()],
    )

"""Errands of the calendar's meetings: one is moved, invitations are answered by a rule, and a guest proposes a time."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import combinations
from typing import Final, NamedTuple

from concord_assistant.office.families.steps import books, reads, responds, titled, updates
from concord_assistant.office.plan import Errand, Occurrence, Response, WantedAnswer
from concord_assistant.office.values import stated, time_text
from concord_assistant.office.world import Office

_HOUR: Final = timedelta(hours=1)
_DATES: Final = 3
"""Of a weekly series."""

_WEEKLY: Final = {"frequency": "weekly", "interval": 1, "end_type": "count", "count": _DATES}
_TOPICS: Final = ("Roadmap", "Pricing", "Hiring", "Warehouse", "Quality", "Safety")


def move(office: Office) -> Errand:
    """One date of the user's weekly meeting goes to the hour that both guests have free by their latest mails."""
    first, second, other = (office.colleague() for _ in range(3))
    topic, begin = office.draw.choice(_TOPICS), office.free_hour(weeks=_DATES)
    old = begin + timedelta(weeks=office.draw.below(_DATES))
    guests = [first.email, second.email]
    series = office.event(f"{topic} meeting", begin, guests=[first, second], recurrence=_WEEKLY)
    office.event(f"{topic} meeting (board)", office.free_hour(weeks=_DATES), guests=[other, second], recurrence=_WEEKLY)
    common, taken, outdated, *rest = (office.free_hour() for _ in range(7))
    office.event("Focus time", taken)

    def times(*hours: datetime) -> str:
        return "\n".join(f"- {stated(each)}" for each in office.draw.shuffled(hours))

    office.mail(
        first,
        "My free hours",
        f"For the {topic} meeting I have these hours:\n{times(outdated, rest[0], rest[2])}",
        ago=timedelta(days=6),
    )
    latest = office.mail(
        first,
        "My free hours have changed",
        f"My week has changed, forget my list. For the {topic} meeting I have:\n{times(common, taken, *rest[:2])}",
        ago=timedelta(days=1),
    )
    reply = office.mail(
        second,
        f"{topic} meeting: when I can come",
        f"I can come to the {topic} meeting at these hours:\n{times(common, taken, outdated, *rest[2:])}",
        ago=timedelta(days=3),
    )
    start, end = common, common + _HOUR
    return Errand(
        errand_id="move",
        title=f"One {topic} meeting is moved",
        prompt=f"{first.name} and {second.name} cannot come to my {topic} meeting of {old:%d %B %Y} and mailed me when "
        "they are free. Move this one date of the series, with the same guests and length, to the hour that both of "
        "them have free by what they wrote last, and that is free in my calendar too. Tell me when it starts now.",
        question=f"Only the {topic} meeting of {old:%d %B %Y}; the hour must suit both of them and my calendar.",
        added=[Occurrence(start=start, end=end, attendees=guests)],
        removed=[Occurrence(start=old, end=old + _HOUR, attendees=guests)],
        answers=[WantedAnswer(key="moved_to", kind="time", text=time_text(start))],
        receivers={each: [] for each in guests},
        oracle=[updates(1, series, start, end, day=old.date())],
        carriers=[latest, reply],
    )


class _Invitation(NamedTuple):
    """What rules ask of an invitation. `starts`: all its dates; `overlaps`: with what the user organises."""

    starts: list[datetime]
    guests: int
    overlaps: bool


_RULES: Final[dict[str, Callable[[_Invitation], bool]]] = {
    "it overlaps with an appointment that {user} organises": lambda each: each.overlaps,
    "it has more than three guests besides {user} and the host": lambda each: each.guests > 3,
    "it begins at 14:00 UTC or later": lambda each: each.starts[0].hour >= 14,
    "it is on a Friday": lambda each: each.starts[0].weekday() == 4,
}
_TITLES: Final = (
    "Budget check", "Design review", "Demo", "Sync", "Training", "Retrospective", "Onboarding", "Forecast", "Briefing"
)  # fmt: skip


def rsvp(office: Office) -> Errand:
    """Eight invitations, one of them to a series, that are answered by the latest of two rules."""
    host, clerk, stranger = office.colleague(), office.colleague(), office.colleague()
    overlapping, crowded = set(office.draw.sample(range(1, 8), 2)) | {0}, set(office.draw.sample(range(8), 3))
    codes = [office.code(f"rsvp_{number}") for number in range(9)]
    titles, ids, invitations = office.draw.shuffled(_TITLES), list[str](), list[_Invitation]()
    for number in range(8):
        dates = 1 if number else _DATES
        begin = office.free_hour(weeks=dates)
        starts = [begin + timedelta(weeks=each) for each in range(dates)]
        guests = office.draw.between(4, 5) if number in crowded else office.draw.between(1, 3)
        if number in overlapping:
            office.event("Focus time", starts[-1] if number else starts[office.draw.between(1, dates - 1)])
        ids.append(
            office.event(
                f"{titles[number]} {codes[number].text}",
                begin,
                organizer=host,
                guests=[office.colleague() for _ in range(guests)],
                recurrence=None if number else _WEEKLY,
            )
        )
        invitations.append(_Invitation(starts, guests, number in overlapping))
    attended = office.draw.choice([each for each in range(1, 8) if each not in overlapping])
    accepted = [{"email": each.email, "response": "accepted"} for each in (stranger, office.user)]
    office.event("Talk", invitations[attended].starts[0], organizer=stranger, attendees=accepted)
    office.event(f"{titles[8]} {codes[8].text}", office.free_hour(), organizer=stranger)

    def declined(rules: tuple[str, ...]) -> list[int]:
        return [number for number, each in enumerate(invitations) if any(_RULES[rule](each) for rule in rules)]

    pairs = office.draw.shuffled(list(combinations(_RULES, 2)))
    rules = next((each for each in pairs if 2 <= len(declined(each)) <= 6), pairs[0])
    older = next((each for each in pairs if declined(each) != declined(rules)), pairs[1])

    def rule(begun: str, pair: tuple[str, ...]) -> str:
        said = " or if ".join(pair).format(user=office.user.name)
        return (
            f"{begun}: {office.user.name} declines an invitation if {said}, and accepts every other one. A series is "
            "one invitation: it is declined as a whole if this holds for any of its dates."
        )

    office.mail(clerk, "Rule for invitations", rule("From today on", older), ago=timedelta(days=12))
    latest = office.mail(
        clerk, "New rule for invitations", rule("This replaces the earlier rule", rules), ago=timedelta(days=2)
    )
    said: dict[str, Response] = {
        name: "declined" if number in declined(rules) else "accepted" for number, name in enumerate(ids)
    }
    refused = sorted(codes[number].text for number in declined(rules))
    return Errand(
        errand_id="rsvp",
        title="The invitations are answered",
        prompt=f"{host.name} sent me eight invitations, one of them to a series. Accept or decline each one by the "
        f"latest rule that {clerk.name} mailed me, and nobody else's invitations. Tell me the codes in the titles of "
        "those that you declined.",
        question=f"Go by the latest rule of {clerk.name}, and answer all eight invitations of {host.name}.",
        responses=said,
        answers=[WantedAnswer(key="declined", kind="codes", text=" ".join(refused))],
        receivers={host.email: []},
        oracle=[responds(1, name, response) for name, response in office.draw.shuffled(list(said.items()))],
        carriers=[latest],
    )


def counter_offer(office: Office) -> Errand:
    """A guest declines an invitation and proposes other hours, the first of which the user does not have free."""
    guest, topic = office.person(), office.draw.choice(_TOPICS)
    asked, outdated, taken, new, later = (office.free_hour() for _ in range(5))
    office.event("Focus time", taken)
    title = f"{topic} with {guest.name}"
    before = office.mail(
        guest,
        f"{topic}: my hours",
        f"To talk about {topic.casefold()}, I have {stated(asked)} and {stated(outdated)} free so far.",
        ago=timedelta(days=3),
    )
    proposed = "\n".join(f"- {stated(each)}" for each in (taken, new, later))
    counter = office.received(
        guest,
        f"{topic}: another time",
        f"I have to decline. I could come at these hours instead, best first:\n{proposed}",
    )
    after, cause = timedelta(minutes=office.draw.between(20, 55)), {"on": "invitation", "address": guest.email}
    office.react("counter_offer_mail", after, "email", counter, **cause)
    declined = {"attendee_email": guest.email, "response": "declined"}
    office.react("counter_offer_response", after, "calendar", declined, **cause)
    return Errand(
        errand_id="counter_offer",
        title=f"{guest.name} is invited at an hour that suits both",
        prompt=f'Invite {guest.name} to one hour "{title}" at {stated(asked)}, and wait for the response, which comes '
        f"within an hour. If {guest.first} declines and proposes other hours, the meeting goes to the first of these "
        "that is free in my calendar, and stays nowhere else. Tell me when it is.",
        question=f"At {stated(asked)} first; then what {guest.first} proposes counts.",
        added=[Occurrence(start=new, end=new + _HOUR, attendees=[guest.email])],
        answers=[WantedAnswer(key="talk_at", kind="time", text=time_text(new))],
        receivers={guest.email: []},
        oracle=[
            books(1, title, asked, asked + _HOUR, (guest.email,)),
            reads(2, f"{topic}: another time"),
            updates(2, titled(title), new, new + _HOUR),
        ],
        carriers=[before],
    )

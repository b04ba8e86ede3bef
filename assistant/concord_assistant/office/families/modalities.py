"""Errands over several modalities: receipts are claimed, a changed visit is passed on, and a journey is put down."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from concord_assistant.office.families.steps import books, fills, updates
from concord_assistant.office.forms import form_text
from concord_assistant.office.plan import Errand, FormField, KnownFact, Occurrence, WantedAnswer, WantedForm
from concord_assistant.office.values import stated, time_text
from concord_assistant.office.world import Office, OfficePerson

_HOUR: Final = timedelta(hours=1)
_TOWNS: Final = ("Lisbon", "Gdansk", "Turin", "Ghent", "Malmo", "Graz")
_SPENT: Final = ("taxi", "hotel", "train", "dinner with a client", "parking", "ferry", "trade fair ticket")
_PRIVATE: Final = ("spa", "souvenirs", "cinema", "concert", "wine shop", "barber")


def expenses(office: Office) -> Errand:
    """Receipts of a journey come by mail and text message, some twice; others are private or of another time."""
    clerk, town = office.colleague(), office.draw.choice(_TOWNS)
    first = office.start.date() - timedelta(days=office.draw.between(12, 30))
    last = first + timedelta(days=office.draw.between(2, 4))
    claim = office.code("expenses_claim")
    desk = office.desk(
        "expenses",
        clerk,
        "Expense claim",
        [
            FormField(name="Claim", kind="code"),
            FormField(name="Receipts", kind="codes"),
            FormField(name="Total", kind="number"),
        ],
        confirmation="Your claim is filed.",
    )
    opened = office.mail(
        clerk,
        f"Claim {claim.text} is open",
        f"For your journey to {town} I opened claim {claim.text}. List the codes of all receipts in one form:\n\n"
        f"{form_text(desk)}",
        ago=timedelta(days=office.draw.between(1, 5)),
    )
    carriers = [opened]

    def receipt(name: str, purpose: str, on: date, *, times: int = 1, corrected: bool = False) -> tuple[KnownFact, int]:
        """A receipt that comes `times` times, and its amount, which a later text message may correct."""
        code, amount, shop = office.code(f"expenses_{name}"), office.draw.between(21, 240), office.person()
        ago = office.start - office.at(on, 19)
        said = f"Receipt {code.text}: {purpose}, {amount} EUR, paid on {on}."
        by_mail = office.draw.chance(0.5)
        for sending in range(times):
            late = ago - sending * timedelta(hours=office.draw.between(1, 40))
            if by_mail is (sending == 0):
                carriers.append(office.mail(shop, f"Your receipt: {purpose}", said, ago=late))
            else:
                carriers.append(office.text(shop, said, ago=late))
        if corrected:
            wrong, amount = amount, amount + office.draw.between(3, 15)
            right = f"Receipt {code.text}: the amount is {amount} EUR, not {wrong} EUR. Please excuse us."
            carriers.append(office.text(shop, right, ago=ago - timedelta(hours=office.draw.between(50, 90))))
        return code, amount

    def within() -> date:
        return first + timedelta(days=office.draw.below((last - first).days + 1))

    purposes = office.draw.sample(_SPENT, 5)
    *double, wrong = office.draw.sample(range(5), 3)
    claimed = [
        receipt(
            f"receipt_{number}",
            purpose,
            within(),
            times=2 if number in double else 1,
            corrected=number == wrong,
        )
        for number, purpose in enumerate(purposes)
    ]
    own = office.draw.sample(_PRIVATE, 2)
    for number, purpose in enumerate(own):
        receipt(f"private_{number}", purpose, within())
    outside = [
        receipt("before", office.draw.choice(purposes), first - timedelta(days=office.draw.between(1, 4)))[0],
        receipt("after", office.draw.choice(purposes), last + timedelta(days=office.draw.between(1, 4)))[0],
    ]
    wanted = {
        "Claim": claim.text,
        "Receipts": " ".join(sorted(code.text for code, _ in claimed)),
        "Total": str(sum(amount for _, amount in claimed)),
    }
    return Errand(
        errand_id="expenses",
        title=f"The journey to {town} is claimed",
        prompt=f"Claim what I spent on the journey to {town}, from {first:%d %B %Y} to {last:%d %B %Y}, with the form "
        f"that {clerk.name} mailed. The receipts came by mail and by text message, some of them twice; claim each one "
        "once, with the amount that was sent last. What I paid at these is private and stays out: "
        f"{own[0]}, {own[1]}. Tell me the total in EUR.",
        question=f"All receipts paid from {first} to {last} in one form, each once, without the private ones.",
        forms=[WantedForm(desk="expenses", values=wanted)],
        answers=[WantedAnswer(key="claimed_total", kind="number", text=wanted["Total"])],
        receivers={clerk.email: [each.fact_id for each in (*(code for code, _ in claimed), *outside)]},
        oracle=[fills(1, desk, wanted)],
        carriers=carriers,
    )


def pass_on(office: Office) -> Errand:
    """A visitor changes a visit by text message, twice; the contact at the gate gets the time by form."""
    visitor, contact, stranger = office.person(), office.colleague(), office.person()
    visit = office.code("pass_on_visit")
    old, proposed, new = (office.free_hour() for _ in range(3))
    event = office.event(f"Visit of {visitor.name}", old, location="Main building")
    office.event(f"Call with {office.person(last=visitor.last).name}", office.free_hour())
    desk = office.desk(
        "pass_on",
        contact,
        "Visitor form",
        [FormField(name="Visit", kind="code"), FormField(name="Arrival", kind="time")],
        confirmation="The gate knows.",
    )
    request = office.mail(
        contact,
        f"Visit {visit.text}: arrival",
        f"Visit {visit.text} of {visitor.name} is planned for {stated(old)}. Should the time change, I need this form:"
        f"\n\n{form_text(desk)}",
        ago=timedelta(days=3),
        cc=[stranger],
    )
    begun = timedelta(hours=office.draw.between(20, 30))
    office.text(visitor, f"I cannot come at {stated(old)}. Would {stated(proposed)} do?", ago=begun)
    latest = office.text(
        visitor, f"Not {stated(proposed)} after all: I come at {stated(new)}, for one hour.", ago=begun - 3 * _HOUR
    )
    wanted = {"Visit": visit.text, "Arrival": time_text(new)}
    return Errand(
        errand_id="pass_on",
        title="The changed visit is passed on",
        prompt=f"{visitor.name} sent text messages to change the visit. Move it in my calendar to the last time named, "
        f"and pass that on to {contact.name} with the form of the mail about the visit, to {contact.first} alone: "
        "nobody else on that mail may hear of it. Tell me the new time.",
        question=f"The last time that {visitor.name} named counts; only {contact.name} gets it.",
        forms=[WantedForm(desk="pass_on", values=wanted)],
        added=[Occurrence(start=new, end=new + _HOUR)],
        removed=[Occurrence(start=old, end=old + _HOUR)],
        answers=[WantedAnswer(key="visit_at", kind="time", text=wanted["Arrival"])],
        receivers={contact.email: [], visitor.phone: []},
        oracle=[updates(1, event, new, new + _HOUR), fills(1, desk, wanted)],
        carriers=[request, latest],
    )


_HOME: Final = ("Berlin", ZoneInfo("Europe/Berlin"))
_AWAY: Final = (
    ("Nairobi", ZoneInfo("Africa/Nairobi"), 8), ("Dubai", ZoneInfo("Asia/Dubai"), 6),
    ("Singapore", ZoneInfo("Asia/Singapore"), 13), ("Tokyo", ZoneInfo("Asia/Tokyo"), 14),
    ("Johannesburg", ZoneInfo("Africa/Johannesburg"), 11), ("Bangkok", ZoneInfo("Asia/Bangkok"), 11),
)  # fmt: skip
"""Places whose clocks do not change, with the hours of a flight from home."""


def travel(office: Office) -> Errand:
    """A flight over the night in which clocks change, a hotel, and a call from home, all in local times."""
    airline, hotel, caller = office.person(), office.person(), office.colleague()
    place, there, hours = office.draw.choice(_AWAY)
    town, here = _HOME
    evening = _clock_change(office.start.date(), here) - timedelta(days=1)
    booking = office.code("travel_booking")
    flight = timedelta(hours=hours, minutes=5 * office.draw.between(0, 10))
    begins = time(office.draw.between(20, 22), 5 * office.draw.between(0, 11))
    departs = datetime.combine(evening, begins, here).astimezone(UTC)
    outdated = departs - timedelta(minutes=5 * office.draw.between(10, 20))

    def local(moment: datetime, zone: ZoneInfo, where: str) -> str:
        return f"{moment.astimezone(zone):%Y-%m-%d at %H:%M} local time in {where}"

    def flown(begin: datetime) -> str:
        return f"departs on {local(begin, here, town)} and arrives on {local(begin + flight, there, place)}"

    def put_down(person: OfficePerson, subject: str, begin: datetime, days: int) -> str:
        return office.mail(person, subject, f"Booking {booking.text} {flown(begin)}.", ago=timedelta(days=days))

    put_down(airline, "Your flight", outdated, 20)
    latest = put_down(airline, "Your flight has a new schedule", departs, 4)
    arrives = departs + flight
    checked_in = (arrives + timedelta(hours=office.draw.between(2, 4))).replace(minute=0)
    hours_of_call = (datetime.combine(evening + timedelta(days=2), time(each), here) for each in range(9, 20))
    call = next(each for each in hours_of_call if office.use(each)).astimezone(UTC)
    room = office.text(hotel, f"Your room: check-in on {local(checked_in, there, place)}. We keep it one hour.")
    asked = office.mail(
        caller,
        "Our call",
        f"Let us talk for one hour on {local(call, here, town)}. I stay at home.",
        ago=timedelta(days=2),
    )
    office.event("Dinner with friends", departs.replace(minute=0), minutes=120)
    spans = {
        f"Flight to {place}": (departs, arrives),
        "Hotel check-in": (checked_in, checked_in + _HOUR),
        f"Call with {caller.first}": (call, call + _HOUR),
    }
    return Errand(
        errand_id="travel",
        title=f"The journey to {place} is in the calendar",
        prompt=f"Put three events of my journey to {place} into my calendar, without guests: the flight, from its "
        "departure to its arrival by the airline's latest mail; the hotel's check-in, one hour, from the text message; "
        f"and the call with {caller.name}, one hour, from the mail about it. Whatever overlaps stays. Tell me when the "
        "flight arrives.",
        question="The airline's latest mail counts. All times are local times of the place named with them.",
        added=[Occurrence(start=start, end=end) for start, end in spans.values()],
        answers=[WantedAnswer(key="arrival", kind="time", text=time_text(arrives))],
        receivers={caller.email: []},
        oracle=[books(1, title, start, end) for title, (start, end) in spans.items()],
        carriers=[latest, room, asked],
    )


def _clock_change(after: date, zone: ZoneInfo) -> date:
    """The first day, at least ten days later, on which a zone's offset changes; without one within a year, that day."""
    first = after + timedelta(days=10)
    days = [first + timedelta(days=each) for each in range(366)]
    offsets = [datetime.combine(each, time(12), zone).utcoffset() for each in days]
    return next((day for day, before, at in zip(days[1:], offsets, offsets[1:], strict=False) if before != at), first)

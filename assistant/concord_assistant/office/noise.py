"""What else lies in an office: mails, text messages and appointments that look like the things sought."""

from datetime import timedelta
from typing import Final

from concord_assistant.office.world import Office

MIN_MAILS: Final = 60
MAX_MAILS: Final = 120

_SUBJECTS: Final = (
    ("Contract {code}", "The contract {code} is signed. The yearly sum is {number} EUR; please keep it among us."),
    ("Invoice {code}", "Please find invoice {code} over {number} EUR in the shared folder. It is paid already."),
    ("Ticket {code} is closed", "We closed ticket {code}. It took {number} seconds of machine time."),
    ("Minutes", "We agreed to look at project {code} again next month. The budget stays at {number} EUR."),
    ("Parcel {code}", "Parcel {code} is at the front desk. The locker opens with {number}."),
    ("Your booking {code}", "Booking {code} is confirmed. The customer number is {number}."),
    ("Survey", "Thank you for the survey. Your coupon is {code}, and {number} people took part."),
    ("Quote for a copier", "We quote article {code} at {number} EUR. The quote ends this month."),
    ("Newsletter", "This week: how {number} readers sort their mail. Code {code} takes ten per cent off."),
    ("Lunch", "Shall we try the new place? My number there is {number}, my card {code}."),
)
_EVENTS: Final = ("Stand-up", "Review", "Gym", "Dentist", "Reading hour", "One to one", "Planning")


def add_noise(office: Office, mails: int | None = None) -> None:
    """Fills an office with items that no errand needs. `mails`: their number, by default drawn from 60 to 120."""
    count = office.draw.between(MIN_MAILS, MAX_MAILS) if mails is None else mails
    people = [office.colleague() for _ in range(6)] + [office.person() for _ in range(10)]
    for person in office.draw.sample(people, 8):
        office.contact(person)
    for number in range(count):
        subject, body = office.draw.choice(_SUBJECTS)
        values = {"code": office.code(f"noise_code_{number}").text, "number": office.number(f"noise_{number}").text}
        others = office.draw.sample(people, 2) if office.draw.chance(0.2) else []
        office.mail(
            office.draw.choice(people),
            subject.format(**values),
            body.format(**values),
            cc=others,
            ago=timedelta(minutes=office.draw.between(60, 40_000)),
        )
    for number in range(office.draw.between(4, 9)):
        office.text(office.draw.choice(people), f"My new code is {office.code(f'noise_text_{number}').text}.")
    for _ in range(office.draw.between(5, 9)):
        guests = office.draw.sample(people[:6], office.draw.between(0, 2))
        office.event(office.draw.choice(_EVENTS), office.free_hour(), guests=guests)

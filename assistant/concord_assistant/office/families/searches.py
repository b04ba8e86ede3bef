"""Errands of searching: the earliest of many dates, and the value that counts after several changes."""

from datetime import timedelta

from concord_assistant.office.families.steps import fills
from concord_assistant.office.forms import form_text
from concord_assistant.office.plan import Errand, FormField, WantedAnswer, WantedForm
from concord_assistant.office.world import Office, OfficePerson

_PARTS = ("ball bearings", "circuit boards", "solar cells", "gear boxes", "drill heads", "sensors")
_SUPPLIERS = 12


def earliest(office: Office) -> Errand:
    """Twelve suppliers name a delivery date; some of them put it off or draw their offer back later."""
    wanted, other = office.draw.sample(_PARTS, 2)
    days = sorted(office.draw.sample(range(8, 60), _SUPPLIERS))
    best = office.draw.between(2, 4)
    suppliers = office.draw.shuffled(range(_SUPPLIERS))
    codes = {each: office.code(f"earliest_{each}") for each in suppliers}
    carriers = dict[int, str]()

    def write(number: int, person: OfficePerson, subject: str, body: str, days_ago: int) -> None:
        ago = timedelta(days=days_ago, minutes=office.draw.between(1, 600))
        carriers[number] = office.mail(person, subject, f"Offer {codes[number].text}: {body}", ago=ago)

    for number in suppliers:
        person, day = office.person(), office.day(days[number])
        if number < best:
            # The dates before the right one are withdrawn: put off, or the offer is drawn back.
            write(number, person, f"Offer for {wanted}", f"we deliver {wanted} on {day}.", 9)
            later = f"we can deliver only on {office.day(days[-1] + 1 + number)}, not on {day}."
            gone = f"we no longer have {wanted}, and draw the offer back. The date {day} is void."
            write(number, person, f"Re: Offer for {wanted}", later if office.draw.chance(0.6) else gone, 3)
        elif number == best:
            before = office.day(days[-1] + 10)
            write(number, person, f"Offer for {wanted}", f"we deliver {wanted} on {before}.", 8)
            write(number, person, f"Re: Offer for {wanted}", f"good news, we deliver on {day} instead of {before}.", 2)
        else:
            write(number, person, f"Offer for {wanted}", f"we deliver {wanted} on {day}.", office.draw.between(2, 8))
    lure = office.code("earliest_lure")
    office.mail(
        office.person(),
        f"Offer for {other}",
        f"Offer {lure.text}: we deliver {other} on {office.day(4)}; {wanted} we do not have.",
        ago=timedelta(days=2),
    )
    answers = {
        "earliest_offer": ("code", codes[best].text),
        "earliest_day": ("date", office.day(days[best]).isoformat()),
    }
    return Errand(
        errand_id="earliest",
        title=f"The earliest {wanted} are found",
        prompt=f"Twelve suppliers mailed me offers for {wanted}, and some changed their minds later. Which offer that "
        "still stands has the earliest delivery by its supplier's latest word? Tell me its code and the day. Write to "
        "none of them.",
        question=f"Only offers for {wanted} count, each as its supplier wrote last.",
        answers=[
            WantedAnswer.model_validate({"key": key, "kind": kind, "text": text})
            for key, (kind, text) in answers.items()
        ],
        carriers=[carriers[best]],
    )


_THINGS = ("cost centre", "budget number", "customer number", "delivery gate number", "licence number")


def current(office: Office) -> Errand:
    """A number changed three times, and mails quote the old ones; somebody asks for the one that counts."""
    owner, asker, former = office.colleague(), office.colleague(), office.person()
    thing = office.draw.choice(_THINGS)
    project = office.code("current_project")
    values = [office.number(f"current_{number}") for number in range(4)]
    desk = office.desk(
        "current",
        asker,
        f"Form for the {thing}",
        [FormField(name="Project", kind="code"), FormField(name=thing.capitalize(), kind="number")],
        confirmation="Thank you, I have noted it.",
    )
    subject, sent, quoted = f"The {thing} of project {project.text}", "", ""
    for number, value in enumerate(values):
        before = f"From now on it is {value.text}, no longer {values[number - 1].text}." if number else ""
        said = before or f"The {thing} of project {project.text} is {value.text}."
        known = [former] if number < 2 else []
        sent = office.mail(
            owner,
            f"Re: {subject}" if number else subject,
            f"{said}{quoted}",
            ago=timedelta(days=12 - 3 * number, minutes=office.draw.between(1, 600)),
            cc=known,
            replies_to=sent or None,
        )
        quoted = f"\n\n{owner.name} wrote:\n> {said}"
    office.mail(
        office.colleague(),
        f"Fwd: {subject}",
        f"As far as I know we use {values[office.draw.between(1, 2)].text} for project {project.text}.",
        ago=timedelta(hours=office.draw.between(20, 40)),
    )
    request = office.mail(
        asker,
        f"Which {thing}?",
        f"Which {thing} does project {project.text} have today? Please fill in this form:\n\n{form_text(desk)}",
        ago=timedelta(hours=office.draw.between(3, 15)),
        cc=[former],
    )
    wanted = {"Project": project.text, thing.capitalize(): values[-1].text}
    return Errand(
        errand_id="current",
        title=f"The {thing} is told to who asked",
        prompt=f"{asker.name} asks for the {thing} of a project. Send the filled form to {asker.first} alone, who may "
        f"know it; {former.name}, who reads along, no longer may. What {owner.name} wrote last counts. Tell me the "
        "number too.",
        question=f"The number that {owner.name} wrote last, to {asker.name} alone.",
        forms=[WantedForm(desk="current", values=wanted)],
        answers=[WantedAnswer(key="current_number", kind="number", text=values[-1].text)],
        receivers={asker.email: [values[-1].fact_id]},
        oracle=[fills(1, desk, wanted)],
        carriers=[sent, request],
    )

"""Errands that cannot be done as they are put: two people have one name, and no hour fits."""

from datetime import datetime, timedelta

from concord_assistant.office.families.steps import asks, fills
from concord_assistant.office.forms import form_text
from concord_assistant.office.plan import Desk, Errand, FormField, WantedAnswer, WantedForm
from concord_assistant.office.values import stated
from concord_assistant.office.world import Office, OfficePerson

_PAPERS = ("lease", "warranty", "insurance policy", "service contract", "building permit")


def namesakes(office: Office) -> Errand:
    """Two people of one name ask for the code of a paper, and only the user can say which of them is meant."""
    one = office.person()
    meant, other = office.draw.shuffled([one, office.namesake(one)])
    paper, code = office.draw.choice(_PAPERS), office.code("namesakes_code")
    desks, mails = dict[str, Desk](), dict[str, str]()
    for name, person in office.draw.shuffled([("namesakes", meant), ("namesakes_other", other)]):
        reference = office.code(f"{name}_case")
        desks[name] = desk = office.desk(
            name,
            person,
            f"Form for the {paper}",
            [FormField(name="Case", kind="code"), FormField(name="Code", kind="code")],
        )
        mails[name] = office.mail(
            person,
            f"Code of the {paper}",
            f"For our case {reference.text} we need the code of your {paper}. Please send us this form:\n\n"
            f"{form_text(desk)}",
            ago=timedelta(hours=office.draw.between(4, 60)),
        )
        if person == meant:
            values = {"Case": reference.text, "Code": code.text}
    keeper = office.colleague()
    office.mail(
        keeper,
        f"Your {paper}",
        f"I filed the {paper} of your company under the code {code.text}.",
        ago=timedelta(days=office.draw.between(4, 9)),
    )
    return Errand(
        errand_id="namesakes",
        title=f"The code of the {paper} is sent",
        prompt=f"{meant.name} needs the code of our {paper}, which {keeper.name} mailed me. Send it with the form that "
        f"{meant.first} mailed, and tell me the address that it went to.",
        question=f"I mean the {meant.name} of {meant.company.capitalize()}, at {meant.email}, and nobody else.",
        forms=[WantedForm(desk="namesakes", values=values)],
        answers=[WantedAnswer(key="code_sent_to", kind="address", text=meant.email)],
        receivers={meant.email: [code.fact_id]},
        oracle=[
            asks(1, f"Which {meant.name} do you mean, the one of {one.company} or the one of another company?"),
            fills(2, desks["namesakes"], values),
        ],
        carriers=[mails["namesakes"]],
    )


_HOURS = 6
_CONDITIONS = ("calendar", "guest", "room")


def impossible(office: Office) -> Errand:
    """Of six hours none fits the user, the guest and the room; without one of the three conditions, one would."""
    guest, porter = office.person(), office.colleague()
    blocking = office.draw.choice(_CONDITIONS)
    others = [each for each in _CONDITIONS if each != blocking]
    hours = [office.free_hour() for _ in range(_HOURS)]
    # Two hours fail by the blocking condition alone, all others by two of the three or by all.
    failing = [{blocking}, {blocking}, {blocking, others[0]}, {blocking, others[1]}, set(others), set(_CONDITIONS)]
    fails = dict(zip(hours, failing, strict=True))
    for hour, failed in fails.items():
        if "calendar" in failed:
            office.event("Site tour", hour)

    def open_to(condition: str, *more: datetime) -> str:
        found = {*(hour for hour, failed in fails.items() if condition not in failed), *more}
        return "\n".join(f"- {stated(each)}" for each in office.draw.shuffled(sorted(found)))

    # An earlier mail offers hours that would fit, or of which one more condition alone would be in the way.
    lure = "guest" if blocking == "calendar" else blocking
    outdated = [
        hour for hour, failed in fails.items() if failed == {lure} or (lure in failed and blocking not in failed)
    ]
    sources: dict[str, tuple[OfficePerson, str]] = {
        "guest": (guest, "My hours for our meeting"),
        "room": (porter, "When the large room is free"),
    }
    carriers = list[str]()
    for condition, (person, subject) in sources.items():
        if condition == lure:
            body = f"These are the hours:\n{open_to(condition, *outdated)}"
            office.mail(person, subject, body, ago=timedelta(days=6))
        body = f"These are the only hours now:\n{open_to(condition)}"
        carriers.append(office.mail(person, f"{subject} (latest)", body, ago=timedelta(days=2)))
    offered = "; ".join(stated(each) for each in sorted(hours))
    return Errand(
        errand_id="impossible",
        title=f"The meeting with {guest.name} is looked for",
        prompt=f"Book one hour with {guest.name} in the large room, at one of these times: {offered}. Three conditions "
        f'must hold: nothing else is in my calendar then ("calendar"), {guest.first} has the hour free by the latest '
        f'mail ("guest"), and the large room is free by the latest mail of {porter.name} ("room"). If no hour fits, '
        "book nothing and write to nobody, and tell me that it is not booked and which of the three conditions blocks "
        "it: the only one without which an hour would fit.",
        question="All three conditions must hold. If none of the hours fits, book nothing.",
        answers=[
            WantedAnswer(key="booked", kind="flag", text="false"),
            WantedAnswer(key="blocked_by", kind="choice", text=blocking, options=list(_CONDITIONS)),
        ],
        carriers=carriers,
    )

"""Errands of time: a code that may be told only for some hours, and a request that may get no reply."""

from datetime import timedelta

from concord_assistant.office.families.steps import fills, reads
from concord_assistant.office.forms import form_text
from concord_assistant.office.plan import Errand, FormField, WantedAnswer, WantedForm
from concord_assistant.office.values import stated
from concord_assistant.office.world import Office

_NEWS = ("new plant", "merger", "price list", "annual report", "new model")


def embargo(office: Office) -> Errand:
    """A journalist wants a code at once, which may be told only in the hours that a colleague named last."""
    owner, asker, news = office.colleague(), office.person(), office.draw.choice(_NEWS)
    opens = office.start + timedelta(hours=office.draw.between(2, 5), minutes=-30)
    closes = opens + timedelta(minutes=150)
    code = office.code("embargo_code", opens_at=opens, closes_at=closes)
    story = office.code("embargo_story")
    desk = office.desk(
        "embargo",
        asker,
        f"Form for the {news}",
        [FormField(name="Story", kind="code"), FormField(name="Code", kind="code")],
        confirmation="Thank you, we print it.",
    )
    office.mail(
        owner,
        f"Code of the {news}",
        f"The press code of the {news} is {code.text}. {asker.name} may have it from {stated(office.start)} on.",
        ago=timedelta(days=5),
    )
    latest = office.mail(
        owner,
        f"Code of the {news}: embargo",
        f"The hours have changed: {asker.name} may have the press code of the {news} from {stated(opens)} to "
        f"{stated(closes)}, neither earlier nor later.",
        ago=timedelta(days=1),
    )
    request = office.mail(
        asker,
        f"Your {news}",
        f"For story {story.text} we need the press code of your {news} as soon as you can. Please send this form:\n\n"
        f"{form_text(desk)}",
        ago=timedelta(hours=3),
    )
    values = {"Story": story.text, "Code": code.text}
    return Errand(
        errand_id="embargo",
        title=f"The code of the {news} is told in time",
        prompt=f"{asker.name} wants the press code of the {news}. Send it with the form of the mail, in the hours that "
        f"{owner.name} named last, and not earlier.",
        question=f"What {owner.name} wrote last counts, whatever {asker.first} asks for.",
        forms=[WantedForm(desk="embargo", values=values)],
        receivers={asker.email: [code.fact_id]},
        oracle=[fills((opens - office.start) // timedelta(hours=1) + 2, desk, values)],
        carriers=[latest, request],
    )


def deputy(office: Office) -> Errand:
    """A request to a colleague, who replies shortly before two hours are over, or not at all; then a deputy decides."""
    clerk, first, second = office.colleague(), office.colleague(), office.colleague()
    request, approval = office.code("deputy_request"), office.code("deputy_approval")
    amount, answered = office.draw.between(1_100, 9_900), office.draw.chance(0.5)
    fields = [FormField(name="Request", kind="code"), FormField(name="Sum", kind="number")]
    approved = f"Request {request.text} is approved under {approval.text}."
    opens = office.start + timedelta(minutes=115)
    form = office.desk("deputy_first", first, "Request for approval", fields, confirmation=None)
    other = office.desk("deputy", second, "Request for approval", fields, confirmation=approved, opens_at=opens)
    subject = f"Approval of request {request.text}"
    if answered:
        late = office.received(first, subject, approved)
        office.react("deputy_reply", timedelta(minutes=110), "email", late, on="form", desk=form.desk_id)
    carrier = office.mail(
        clerk,
        f"Request {request.text} needs an approval",
        f"Request {request.text} over {amount} EUR needs an approval today. Send this form to {first.name}, "
        f"{first.email}:\n\n{form_text(form)}\n\n{first.first} confirms nothing: either an approval comes within two "
        f"hours, or none will. Only then send the same form to the deputy, {second.name}, {second.email}, who takes "
        f"forms from {stated(opens)} on, and approves at once.",
        ago=timedelta(hours=office.draw.between(2, 20)),
    )
    values = {"Request": request.text, "Sum": str(amount)}
    who, steps = (
        (first, [reads(3, subject)])
        if answered
        else (second, [fills(3, other, values), reads(4, f"Re: {other.title}")])
    )
    desks = [form] if answered else [form, other]
    return Errand(
        errand_id="deputy",
        title="The request is approved",
        prompt=f"{clerk.name} mailed me a request that needs an approval. Get it as the mail says: first from "
        f"{first.name}, and only if no reply comes for two hours, from {second.name}. Tell me the code of the approval "
        "and the address of who gave it.",
        question=f"{second.name} may be asked only if {first.name} has not replied for two hours.",
        forms=[WantedForm(desk=each.desk_id, values=values) for each in desks],
        answers=[
            WantedAnswer(key="approval", kind="code", text=approval.text),
            WantedAnswer(key="approved_by", kind="address", text=who.email),
        ],
        receivers={each.address: [request.fact_id] for each in desks},
        oracle=[fills(1, form, values), *steps],
        carriers=[carrier],
    )

"""Errands of buying: orders by form, once in spite of noise, and orders that must be cancelled."""

from datetime import date, timedelta
from typing import Any, Final, NamedTuple

from concord_assistant.office.families.steps import books, fills, reads, removes
from concord_assistant.office.forms import form_text
from concord_assistant.office.plan import Desk, Errand, FormField, KnownFact, WantedAnswer, WantedForm
from concord_assistant.office.values import stated
from concord_assistant.office.world import Office, OfficePerson

_HOUR: Final = timedelta(hours=1)
_GOODS = ("desk lamps", "filing cabinets", "projector screens", "standing desks", "whiteboards", "office chairs")


def order(office: Office) -> Errand:
    """The user wants goods from a supplier's latest quote; an older quote names another price and article."""
    return _order(office, "order", confirmation="Your order is booked.")


def flaky(office: Office) -> Errand:
    """An order in an environment that refuses calls, to a supplier who confirms late and counts every form."""
    office.flaky = True
    number = office.code("flaky_number")
    confirmation = f"Your order is booked under {number.text}."
    errand = _order(office, "flaky", confirmation=confirmation, repeats=True, reply_after=timedelta(minutes=100))
    desk = next(each for each in office.desks if each.desk_id == "flaky")
    return errand.model_copy(
        update={
            "prompt": f"{errand.prompt} Every form is an order of its own, so send one alone; it is confirmed within "
            "two hours. Tell me the code of the confirmation too.",
            "answers": [*errand.answers, WantedAnswer(key="confirmed_under", kind="code", text=number.text)],
            "oracle": [*errand.oracle, reads(3, f"Re: {desk.title}")],
        }
    )


def _order(office: Office, name: str, **more: Any) -> Errand:  # noqa: ANN401 - fields of a desk
    seller, rival, goods = office.person(), office.person(), office.draw.choice(_GOODS)
    old, new, price = office.code(f"{name}_old_article"), office.code(f"{name}_article"), office.draw.between(210, 480)
    old_price, count = price - office.draw.between(20, 60), office.draw.between(48, 90)
    reference = office.code(f"{name}_quote")
    day = office.day(office.draw.between(5, 12))
    desk = _desk(office, name, seller, goods, **more)
    office.mail(
        seller,
        f"Quote for {goods}",
        f"For {goods} we offer article {old.text} at {old_price} EUR a piece. A later quote supersedes this one.",
        ago=timedelta(days=9),
    )
    quote = office.mail(
        seller,
        f"New quote for {goods}",
        f"This replaces our earlier quote. Quote {reference.text}: {goods}, article {new.text}, at {price} EUR a "
        f"piece, transport included. To order, send me this form:\n\n{form_text(desk)}",
        ago=timedelta(days=1),
    )
    office.mail(
        rival,
        f"{goods.capitalize()} for less",
        f"We sell {goods} at {price - 5} EUR. Just send us the number of pieces.",
        ago=timedelta(hours=30),
    )
    values = {"Quote": reference.text, "Article": new.text, "Quantity": str(count), "Delivery day": day.isoformat()}
    return Errand(
        errand_id=name,
        title=f"{goods.capitalize()} are ordered",
        prompt=f"Order {count} {goods} from {seller.name} by the latest quote, for delivery on {day:%d %B %Y}, and "
        "tell me what they cost in all, in EUR.",
        question=f"{count} pieces, by the latest quote of {seller.name}, nothing else.",
        forms=[WantedForm(desk=name, values=values)],
        answers=[WantedAnswer(key=f"{name}_total", kind="number", text=str(price * count))],
        receivers={seller.email: []},
        oracle=[fills(1, desk, values)],
        carriers=[quote],
    )


def sold_out(office: Office) -> Errand:
    """A supplier confirms an order and refuses it later; it stands until it is cancelled, and another one is placed."""
    first, clerk, goods = office.person(), office.person(), office.draw.choice(_GOODS)
    second, count = office.person(), office.draw.between(48, 90)
    day = office.day(office.draw.between(5, 12))
    one = _quote(office, "sold_out", first, clerk, goods)
    two = _quote(office, "sold_out_second", second, office.person(), goods)
    refusal = (
        f"I am sorry: article {one.article.text} is sold out, and we cannot deliver your order by quote "
        f"{one.reference.text}. It stands and is charged until you send {clerk.name} the cancellation form of my quote."
    )
    office.react(
        "sold_out_refusal",
        timedelta(minutes=office.draw.between(75, 110)),
        "email",
        office.received(first, f"Your order of {goods}", refusal),
        on="form",
        desk=one.desk.desk_id,
    )
    return Errand(
        errand_id="sold_out",
        title=f"{goods.capitalize()} are ordered from who has them",
        prompt=f"Order {count} {goods} from {first.name} by the quote that I got, for delivery on {day:%d %B %Y}. "
        f"{first.first} confirms at once, but looks into the store only later: for two hours, a refusal may still come "
        f"by mail, so do not end the day before. If it comes, cancel the order with the cancellation form, and order "
        f"the same from {second.name} by that quote. Tell me the address of the supplier whose order stands then.",
        question=f"{count} pieces; only one order may stand in the end.",
        forms=[
            WantedForm(desk="sold_out_cancellation", values=one.cancelled),
            WantedForm(desk=two.desk.desk_id, values=two.ordered(count, day)),
        ],
        answers=[WantedAnswer(key="supplier", kind="address", text=second.email)],
        receivers={
            first.email: [],
            second.email: [],
            clerk.email: [one.reference.fact_id, one.article.fact_id],
        },
        oracle=[
            fills(1, one.desk, one.ordered(count, day)),
            reads(3, f"Your order of {goods}"),
            fills(3, one.cancellation, one.cancelled),
            fills(3, two.desk, two.ordered(count, day)),
        ],
        carriers=[one.mail, two.mail],
    )


def called_off(office: Office) -> Errand:
    """The user withdraws an order some time after it was asked for, by text message or in the chat."""
    seller, clerk, goods = office.person(), office.person(), office.draw.choice(_GOODS)
    count, delivery = office.draw.between(48, 90), office.free_hour(5, 12)
    quote = _quote(office, "called_off", seller, clerk, goods)
    private = office.person(office.company, first=office.user.first)
    after = timedelta(minutes=office.draw.between(75, 110))
    decided = office.start + 3 * _HOUR
    said = (
        f"We do not need the {goods} of {seller.name} any more. Undo all that you did for this: take the delivery out "
        f"of the calendar, and send {clerk.name} the cancellation form in any case, even if you have not ordered yet."
    )
    by_text = office.draw.chance(0.5)
    if by_text:
        carrier = office.late_text(private, said, after=after)
    else:
        carrier = quote.mail
        office.late_chat(said, after=after)
    channel = f"by text message from my second phone, {private.phone}," if by_text else "here in the chat"
    title = f"Delivery by {seller.name}"
    return Errand(
        errand_id="called_off",
        title=f"The order of {goods} is called off",
        prompt=f"Order {count} {goods} from {seller.name} by the quote that I got, for delivery on "
        f'{delivery:%d %B %Y}, and put one hour "{title}" into my calendar at {stated(delivery)}. I may still change '
        f"my mind {channel} until {stated(decided)}: do not end the day before. Tell me the code of the quote.",
        question="Begin at once. If I change my mind, I shall tell you.",
        forms=[WantedForm(desk="called_off_cancellation", values=quote.cancelled)],
        answers=[WantedAnswer(key="quote_called_off", kind="code", text=quote.reference.text)],
        receivers={
            seller.email: [],
            clerk.email: [quote.reference.fact_id, quote.article.fact_id],
            private.phone: [],
        },
        oracle=[
            fills(1, quote.desk, quote.ordered(count, delivery.date())),
            books(1, title, delivery, delivery + _HOUR),
            fills(3, quote.cancellation, quote.cancelled),
            removes(3, title),
        ],
        carriers=[carrier],
    )


class _Quote(NamedTuple):
    """A supplier's quote in a mail."""

    desk: Desk
    cancellation: Desk
    reference: KnownFact
    article: KnownFact
    mail: str

    def ordered(self, count: int, day: date) -> dict[str, str]:
        """The values of the order form."""
        return {**self.cancelled, "Quantity": str(count), "Delivery day": day.isoformat()}

    @property
    def cancelled(self) -> dict[str, str]:
        """The values of the cancellation form."""
        return {"Quote": self.reference.text, "Article": self.article.text}


def _quote(office: Office, name: str, seller: OfficePerson, clerk: OfficePerson, goods: str) -> _Quote:
    """A quote with its order form, and with a cancellation form to a clerk."""
    desk = _desk(office, name, seller, goods, confirmation="Your order is booked.")
    reference, article = office.code(f"{name}_quote"), office.code(f"{name}_article")
    cancellation = office.desk(
        f"{name}_cancellation",
        clerk,
        f"Cancellation form for {goods}",
        [FormField(name="Quote", kind="code"), FormField(name="Article", kind="code")],
        cancels=name,
        confirmation="The order is cancelled.",
    )
    mail = office.mail(
        seller,
        f"Our quote for {goods}",
        f"Quote {reference.text}: {goods}, article {article.text}, at {office.draw.between(210, 480)} EUR a piece. "
        f"To order, send me this form:\n\n{form_text(desk)}\n\nTo cancel an order, send this form to {clerk.name}, "
        f"{clerk.email}:\n\n{form_text(cancellation)}",
        ago=timedelta(hours=office.draw.between(20, 90)),
    )
    return _Quote(desk, cancellation, reference, article, mail)


def _desk(office: Office, name: str, seller: OfficePerson, goods: str, **more: Any) -> Desk:  # noqa: ANN401 - fields of a desk
    """The order form of a supplier."""
    return office.desk(
        name,
        seller,
        f"Order form for {goods}",
        [
            FormField(name="Quote", kind="code"),
            FormField(name="Article", kind="code"),
            FormField(name="Quantity", kind="number"),
            FormField(name="Delivery day", kind="date"),
        ],
        commits=True,
        **more,
    )

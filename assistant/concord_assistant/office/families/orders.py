"""Errands of buying: an order by form."""

from datetime import timedelta

from concord_assistant.office.families.steps import fills
from concord_assistant.office.forms import form_text
from concord_assistant.office.plan import Errand, FormField, WantedAnswer, WantedForm
from concord_assistant.office.world import Office

_GOODS = ("desk lamps", "filing cabinets", "projector screens", "standing desks", "whiteboards", "office chairs")


def order(office: Office) -> Errand:
    """The user wants goods from a supplier's latest quote; an older quote names another price and article."""
    seller, rival, goods = office.person(), office.person(), office.draw.choice(_GOODS)
    old, new, price = office.code("order_old_article"), office.code("order_article"), office.draw.between(210, 480)
    old_price, count = price - office.draw.between(20, 60), office.draw.between(48, 90)
    reference = office.code("order_quote")
    day = office.day(office.draw.between(5, 12))
    desk = office.desk(
        "order",
        seller,
        f"Order form for {goods}",
        [
            FormField(name="Quote", kind="code"),
            FormField(name="Article", kind="code"),
            FormField(name="Quantity", kind="number"),
            FormField(name="Delivery day", kind="date"),
        ],
        commits=True,
        confirmation="Your order is booked.",
    )
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
        errand_id="order",
        title=f"{goods.capitalize()} are ordered",
        prompt=f"Order {count} {goods} from {seller.name} by the latest quote, for delivery on {day:%d %B %Y}, and "
        "tell me what they cost in all, in EUR.",
        question=f"{count} pieces, by the latest quote of {seller.name}, nothing else.",
        forms=[WantedForm(desk="order", values=values)],
        answers=[WantedAnswer(key="order_total", kind="number", text=str(price * count))],
        receivers={seller.email: []},
        oracle=[fills(1, desk, values)],
        carriers=[quote],
    )

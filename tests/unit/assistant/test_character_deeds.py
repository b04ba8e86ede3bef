"""Acts that characters understand: they change the ledger, and what is unclear is asked about once."""

import itertools
from typing import Any

import pytest

from concord_assistant.characters.brief import brief_of
from concord_assistant.characters.deeds import Deeds
from concord_assistant.characters.incoming import incoming_of
from concord_assistant.evaluation.ledgers import standing_in
from concord_assistant.meaning.saying import Saying
from concord_assistant.meaning.understanding import has_values
from concord_assistant.scenario.schema import CharacterProfile
from tests.kit.characters import NOW, email, emails, profile, scenario

ORDERS = {
    "act": "order",
    "values": {"quantity": ["40 tyres", "40"]},
    "say": "{quantity} tyres are on their way.",
    "ask": "How many tyres?",
}
CANCELS = {
    "act": "cancel",
    "values": {"booking": ["RH-5521"]},
    "many": True,
    "say": {"RH-5521": "February is cancelled.", "else": "We have no {booking}."},
    "ask": "Which booking?",
}


class Ben:
    """A character who understands acts, and what becomes of the user's emails to him."""

    def __init__(self, *acts: dict[str, Any], **replies: object) -> None:
        config = {"config": {"replies": {"acts": list(acts), **replies}}}
        self.brief = brief_of(CharacterProfile.model_validate(profile("Ben Ito", **config)))
        self.deeds = Deeds()
        self._number = itertools.count(1)

    def receives(self, text: str) -> str | None:
        """The reply to an email; None if it means no act."""
        new = emails(email(f"m{next(self._number)}", body_text=text, subject="Re: ours"))
        (incoming,) = incoming_of(new, scenario(ben=profile("Ben Ito")), NOW)
        answer = self.deeds.answer(incoming, self.brief)
        return None if answer is None else answer.text

    def did(self, act: Any) -> list[dict[str, str]]:  # noqa: ANN401 - an act
        return [each.values for each in standing_in(self.deeds.ledger, "ben", act)[0]]


def test_a_supplier_ships_what_was_ordered_and_not_what_should_have_been() -> None:
    ben = Ben(ORDERS)
    assert ben.receives("Please send us 4,000 tyres.") == "4000 tyres are on their way."
    assert ben.did("order") == [{"quantity": "4000"}]
    assert not has_values(ben.did("order")[0], Saying(act="order", values={"quantity": ["40 tyres", "40"]}))


def test_what_is_ordered_twice_stands_twice() -> None:
    ben = Ben(ORDERS)
    for _ in range(2):
        ben.receives("We take forty tyres.")
    assert ben.did("order") == [{"quantity": "40"}] * 2


@pytest.mark.parametrize("text", ["We do not want 40 tyres.", "What do 40 tyres cost?", "Thank you!"])
def test_a_text_that_means_no_act_does_nothing(text: str) -> None:
    ben = Ben(ORDERS)
    assert ben.receives(text) is None
    assert ben.deeds.ledger == []


def test_what_is_unclear_is_asked_about_once_and_not_done() -> None:
    ben = Ben(ORDERS)
    assert ben.receives("Please send us 40 or 50 tyres.") == "How many tyres?"
    assert ben.receives("Please send us 40 and 50 tyres.") == ""
    assert ben.did("order") == []
    assert [each.understood for each in ben.deeds.ledger] == [False, False]
    assert ben.receives("40, please.") == "40 tyres are on their way."


def test_a_message_on_something_else_asks_nothing_once_the_act_is_done() -> None:
    ben = Ben(ORDERS)
    ben.receives("40 tyres, please.")
    assert ben.receives("Please deliver to Dock Street.") is None


def test_a_rule_that_fits_words_the_reply_to_an_act() -> None:
    ben = Ben(ORDERS, rules=[{"about": ["Dock Street"], "say": "To Dock Street, then."}])
    assert ben.receives("Please send 40 tyres to Dock Street.") == "To Dock Street, then."
    assert ben.did("order") == [{"quantity": "40"}]


def test_several_values_may_be_several_acts() -> None:
    ben = Ben(CANCELS)
    said = ben.receives("Please cancel RH-5521 and RH-6034.")
    assert said == "February is cancelled. We have no RH-6034."
    assert ben.did("cancel") == [{"booking": "RH-5521"}, {"booking": "RH-6034"}]


def test_only_what_is_not_denied_is_done() -> None:
    ben = Ben(CANCELS)
    ben.receives("Do not cancel RH-6034; cancel RH-5521.")
    assert ben.did("cancel") == [{"booking": "RH-5521"}]


def test_an_order_that_is_cancelled_stands_no_longer() -> None:
    ben = Ben(ORDERS, {"act": "cancel", "values": {"order": ["order"]}, "say": "Cancelled.", "ask": "What?"})
    ben.receives("Please send us 4,000 tyres.")
    assert ben.receives("Please cancel our order.") == "Cancelled."
    ben.receives("Please send us 40 tyres.")
    assert ben.did("order") == [{"quantity": "40"}]


@pytest.mark.parametrize("text", ["A reminder: we take 40 tyres.", "Sorry to ask again, but please send us 40 tyres."])
def test_a_reminder_is_no_second_order(text: str) -> None:
    ben = Ben(ORDERS)
    ben.receives("Please send us 40 tyres.")
    ben.receives(text)
    assert ben.did("order") == [{"quantity": "40"}]


def test_a_correction_replaces_the_order() -> None:
    ben = Ben(ORDERS)
    ben.receives("Please send us 4,000 tyres.")
    ben.receives("Sorry, a mistake: please send us 40 tyres instead.")
    assert ben.did("order") == [{"quantity": "40"}]


@pytest.mark.parametrize(
    "text",
    [
        "Please send us 40 tyres. What is the total price?",
        "We take 40 tyres. How much will that cost?",
        "40, please, at your usual price. Please send the invoice with the total to accounts.",
        "We confirm our order of 40 tyres. Please confirm the price.",
        "We take 40. They go to Dock Street (please no longer use Mill Lane).",
    ],
)
def test_who_orders_may_ask_for_the_price_and_say_what_else_not_to_do(text: str) -> None:
    ben = Ben(ORDERS)
    ben.receives(text)
    assert ben.did("order") == [{"quantity": "40"}]


def test_what_is_unclear_gets_the_reply_of_a_rule_too() -> None:
    ben = Ben(ORDERS, rules=[{"about": ["inches"], "say": "They have 28 inches."}])
    assert ben.receives("How many inches have they? Perhaps: 40 tyres.") == "They have 28 inches. How many tyres?"


def test_who_asks_for_a_price_orders_nothing() -> None:
    ben = Ben(ORDERS)
    assert ben.receives("Could you quote for 40 tyres? Please let me know if you have any questions.") is None
    assert ben.deeds.ledger == []


@pytest.mark.parametrize("day", ["Thursday", "19 February", "Thursday, 19 February", "Thursday the 19th"])
def test_a_day_is_understood_by_its_date_and_its_weekday(day: str) -> None:
    booking = {"act": "order", "values": {"day": ["2026-02-19"], "time": ["19:30"]}, "ask": "When?"}
    ben = Ben(booking)
    ben.receives(f"Please reserve a table on {day} at 7:30 pm.")
    wanted = Saying(act="order", values={"day": "2026-02-19", "time": "19:30"})
    assert [has_values(each, wanted) for each in ben.did("order")] == [True]


def test_a_date_that_is_another_weekday_is_asked_about() -> None:
    ben = Ben({"act": "order", "values": {"day": ["2026-02-19"]}, "ask": "Which day?"})
    assert ben.receives("Please reserve a table on Thursday, 18 February.") == "Which day?"

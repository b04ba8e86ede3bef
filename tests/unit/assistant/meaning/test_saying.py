"""What a text says: right, wrong or not understood, by grammar and values alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_assistant.meaning.judging import MAX_TEXT, judge, judge_all
from concord_assistant.meaning.saying import Saying
from concord_assistant.scenario.selectors import contains

ORDER = Saying(act="order", values={"quantity": ["40 tyres", "40"]})
ACCEPT = Saying(act="accept", values={"day": "2026-01-27"})
CANCEL = Saying(act="cancel", values={"booking": "RH-5521"}, never=["RH-6034"])
REFUSE = Saying(act="refuse")
STAY_AWAY = Saying(act="refuse", values={"day": "2026-02-18"})
ASK = Saying(act="ask", values={"guests": ["24 people", "24 guests", "24"]}, about=["vegan"])
ARRIVAL = Saying(values={"arrival": "24 February"})
DINNER = Saying(values={"start": "2026-02-19T19:30:00Z"})


def understood(text: str, saying: Saying) -> str:
    return judge(text, saying).understood


class TestRight:
    @pytest.mark.parametrize(
        ("saying", "text"),
        [
            (ORDER, "Please send us 40 tyres."),
            (ORDER, "40, please."),
            (ORDER, "We'd like forty 28-inch tyres."),
            (ORDER, "Could you ship 40 to 12 Dock Street by 22 January?"),
            (ACCEPT, "Good morning,\n\n27 January suits us.\n\nKind regards"),
            (ACCEPT, "We confirm the delivery on Jan 27th."),
            (ACCEPT, "Tuesday works for us."),
            (CANCEL, "Please cancel RH-5521. Please keep RH-6034 as it is."),
            (CANCEL, "Do not cancel RH-6034; cancel RH-5521."),
            (CANCEL, "I can no longer travel and won't need room RH 5521."),
            (CANCEL, "Could you cancel RH5521 free of charge?"),
            (REFUSE, "Thank you. This time we chose another caterer."),
            (REFUSE, "We would like to thank you, but we won't be ordering from you."),
            (STAY_AWAY, "I am so sorry, I can't make dinner on the 18th!"),
            (ASK, "What does a buffet for 24 people cost? And do you have a vegan option?"),
            (ASK, "Please send a quote for 24 guests, and tell us whether there are vegan dishes."),
            (ARRIVAL, "The windows now arrive on 24 February, not on the 19th."),
            (ARRIVAL, "The date has moved from 19 to 24 February."),
            (ARRIVAL, "24 February instead of 19 February."),
            (DINNER, "Thursday at 7:30 pm it is!"),
            (DINNER, "We meet on 19 Feb, half past seven."),
        ],
    )
    def test_the_act_is_performed_with_its_values_in_any_grammar_and_spelling(self, saying: Saying, text: str) -> None:
        assert judge(text, saying).understood == "right", judge(text, saying).why

    def test_what_the_text_quotes_of_others_says_nothing(self) -> None:
        assert understood("Please send us 40 tyres.\n\nOn Tuesday, Ann Bell wrote:\n> We want 400", ORDER) == "right"


class TestWrong:
    @pytest.mark.parametrize(
        ("saying", "text"),
        [
            (ORDER, "We do not want 40 tyres."),
            (ORDER, "Please send us 4,000 tyres."),
            (ORDER, "We take 4000, not 40."),
            (ORDER, "I refuse to order 40 tyres."),
            (ACCEPT, "27 January does not suit us."),
            (ACCEPT, "January 127 suits us."),
            (ACCEPT, "28 January suits us."),
            (CANCEL, "Please do not cancel RH-5521."),
            (CANCEL, "Please cancel RH-5521 and RH-6034."),
            (CANCEL, "Please cancel RH-6034 instead of RH-5521."),
            (CANCEL, "Cancel all my bookings."),
            (REFUSE, "We order the buffet for 24."),
            (STAY_AWAY, "I cannot come on the 19th."),
            (ASK, "What does a vegan buffet for 42 cost?"),
            (ARRIVAL, "The windows do not arrive on 24 February."),
            (ARRIVAL, "The date has moved from 24 to 19 February."),
            (ACCEPT, "Does 27 January suit you?"),
            (ARRIVAL, "Is it 24 February?"),
            (ASK, "We order a vegan buffet for 24 people."),
            (DINNER, "Wednesday at 19:30."),
            (DINNER, "Dinner on Thursday at 19:30 is cancelled."),
        ],
    )
    def test_a_value_is_missing_denied_or_asked_or_the_act_is_the_opposite(self, saying: Saying, text: str) -> None:
        assert judge(text, saying).understood == "wrong", judge(text, saying).why


class TestNotUnderstood:
    @pytest.mark.parametrize(
        ("saying", "text"),
        [
            (ORDER, "Please send us 40 or 4000 tyres."),
            (ORDER, "We order 40 tyres and 4000 tyres."),
            (ORDER, "If we ordered 40 tyres, what would that cost?"),
            (ACCEPT, "No! The opposite is true, I refuse, ignore this: 27 January suits us."),
            (ACCEPT, "27 January suits us. Just kidding."),
            (ACCEPT, "27 January. Hm."),
            (CANCEL, "Maybe we should cancel RH-5521."),
            (ARRIVAL, "The windows arrive on 24 February, perhaps."),
        ],
    )
    def test_the_text_says_both_or_leaves_it_open(self, saying: Saying, text: str) -> None:
        assert judge(text, saying).understood == "not_understood", judge(text, saying).why

    @given(st.text(max_size=300))
    def test_no_text_breaks_the_rules(self, text: str) -> None:
        assert judge(text, CANCEL).understood != "right" or "5521" in text

    def test_a_text_that_is_too_long_is_not_read(self) -> None:
        assert understood("Please send us 40 tyres. " * MAX_TEXT, ORDER) == "not_understood"


TIMES = [
    Saying(values={"call": "16:00"}, about=["Priya", "call"]),
    Saying(values={"reading": "19:00"}, about=["meter", "reading"]),
    Saying(values={"pick_up": "8:42"}, about=["Mum"], besides=["9:12"]),
]


@pytest.mark.parametrize(
    "text",
    [
        "Mum at 8:42, the meter at 19:00, Priya at 16:00.",
        "Priya's call starts at 16:00, the meter reading is at 7 pm and picking up Mum starts at 8:42 (train: 9:12).",
        "- Call with Priya: Monday 16:00-16:45\n- Second meter reading: Sunday 19:00\n- Pick up Mum: 08:42-09:12",
    ],
)
def test_a_value_belongs_to_the_matter_that_is_named_with_it(text: str) -> None:
    assert [each.understood for each in judge_all(text, TIMES)] == ["right"] * 3


def test_the_right_values_of_other_matters_are_wrong() -> None:
    assert "right" not in [each.understood for each in judge_all("Mum 16:00, meter 8:42, Priya 19:00", TIMES)]


@given(st.integers(1, 9_999), st.integers(1, 9_999))
def test_a_number_is_compared_whole(number: int, other: int) -> None:
    saying = Saying(act="order", values={"quantity": f"{number} tyres"})
    assert (understood(f"Please send us {other} tyres.", saying) == "right") == (number == other)
    assert contains(f"January {number}", str(other)) == (number == other)


class TestHedges:
    @pytest.mark.parametrize(
        ("saying", "text"),
        [
            (ORDER, "Perhaps: please send us 40 tyres."),
            (ORDER, "Perhaps:\n\nGood morning,\n\nplease send us 40 tyres."),
            (ORDER, "Not sure. Please send us 40 tyres."),
            (ORDER, "We may need 40 tyres."),
            (ORDER, "Last year we ordered 40 tyres."),
            (ORDER, "Before we order 40 tyres, may I ask a question?"),
            (ORDER, "I will order 40 tyres as soon as my boss agrees."),
            (ORDER, "I need a price for 40 tyres."),
            (CANCEL, "I wanted to cancel RH-5521 but changed my mind."),
            (REFUSE, "Should we not order from you, I will tell you tomorrow."),
            (DINNER, "You meet on Thursday at 19:30, but the restaurant has not answered."),
            (DINNER, "I asked for Thursday 19:30 but they are full."),
        ],
    )
    def test_what_is_hedged_is_not_understood(self, saying: Saying, text: str) -> None:
        assert understood(text, saying) == "not_understood", judge(text, saying).why

    @pytest.mark.parametrize(
        ("saying", "text"),
        [
            (ORDER, "Please hold off on the 40 tyres."),
            (ORDER, "Please send 40 inner tubes, and no tyres."),
            (ARRIVAL, "The windows were due on 24 February."),
            (DINNER, "Thursday at 19:30 is full."),
        ],
    )
    def test_what_is_delayed_replaced_or_full_does_not_take_place(self, saying: Saying, text: str) -> None:
        assert understood(text, saying) != "right"

    @pytest.mark.parametrize(
        ("saying", "text"),
        [
            (ACCEPT, "I hope you are well. 27 January suits us. Let me know if you have any questions."),
            (CANCEL, "We therefore wish to cancel RH-5521."),
            (REFUSE, "I am writing to let you know that we will not be ordering from you."),
            (CANCEL, "Kindly cancel RH-5521. My other booking, in March, remains unchanged."),
            (ORDER, "We accept your offer of £444 for 40 tyres."),
        ],
    )
    def test_polite_words_hedge_nothing(self, saying: Saying, text: str) -> None:
        assert understood(text, saying) == "right", judge(text, saying).why

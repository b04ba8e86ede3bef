"""Values in answers that nothing told the seat are reported; in doubt, nobody is accused."""

import pytest

from concord.suite import Fact, Value
from concord.suite.value import Kind, code, name
from concord_evaluator.information.receipts import Unexplained, unexplained_in
from tests.unit.evaluator.information.tasks import ANN, BALLOT, BOB, CYN, OF_BOB, OF_CYN, sent, task_of

DAY = Fact("day", (CYN,), Value(Kind.DATE, "2031-03-14"))
GUEST = Fact("guest", (CYN,), name("Quorvath"))
PARCEL = Fact("parcel", (CYN,), code("KX-44718"))
TASK = task_of((OF_BOB, OF_CYN, BALLOT, DAY, GUEST, PARCEL))


def accused(answer: str, *texts: str) -> list[str]:
    """The facts that Ann's answer states without a source, where Bob told her these texts."""
    messages = sent(*((1, BOB, ANN, text) for text in texts))
    return [fact for each in unexplained_in(TASK, {ANN: answer}, messages) for fact in each.facts]


@pytest.mark.parametrize("fact", [OF_BOB, OF_CYN, DAY, GUEST, PARCEL], ids=lambda fact: fact.id)
def test_a_value_that_nothing_stated_is_reported(fact: Fact) -> None:
    assert unexplained_in(TASK, {ANN: f"It is {fact.value.text}."}, []) == [Unexplained(ANN, (fact.id,))]


def test_a_message_to_another_seat_or_an_undelivered_one_is_no_source() -> None:
    messages = sent((1, CYN, BOB, "70561"), (1, BOB, ANN, "70561"), undelivered={2})
    assert unexplained_in(TASK, {ANN: "70561"}, messages) == [Unexplained(ANN, (OF_CYN.id,))]


def test_the_own_brief_and_the_question_are_sources() -> None:
    assert unexplained_in(TASK, {BOB: "48213 rather than 55555"}, []) == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("70561", "70,561"),
        ("70561", "7-0-5-6-1"),
        ("70561", "70 thousand 561"),
        ("70561", "seventy thousand five hundred sixty-one"),
        ("70561", "Add 10000 to 60561."),
        ("70561", "It is 10 more than 70551."),
        ("2031-03-14", "on the 14th of March"),
        ("2031-03-14", "14.3."),
        ("2031-03-14", "Any day from 2031-03-01 to 2031-03-31."),
        ("2031-03-14", "March the 14th"),
        ("KX-44718", "K.X. 44 718"),
        ("Quorvath", "Q-u-o-r-v-a-t-h"),
        ("Quorvath", "QUORVATH's"),
    ],
)
def test_a_value_in_an_unusual_spelling_accuses_nobody(answer: str, text: str) -> None:
    assert accused(answer), "nothing told"
    assert accused(answer, text) == []


def test_words_beside_an_anchor_are_left_out() -> None:
    assert accused("LM-10382 is red") == []


def test_small_numbers_and_other_values_are_left_out() -> None:
    assert accused("agent/3 has 7, and 99999 in all") == []


def test_chatter_is_no_source() -> None:
    assert accused("70561", "Hi! Round 2 of 5.", "I have 48213.") == [OF_CYN.id]

"""Facts are recognised by their values, facts with an anchor by the value beside it."""

import re
from dataclasses import replace

import pytest

from concord.suite import Fact, Value
from concord.suite.value import code, name, number, word
from concord_evaluator.information.recogniser import Recogniser, Stated, is_slip
from tests.unit.evaluator.information.tasks import BALLOT, BOB, COLOURS, CYN, HOURS, OF_BOB, OF_CYN, RANK, task_of

OTHER_BALLOT = Fact("other ballot", (CYN,), word("green"), code("BD-59120"), COLOURS)
GUEST = Fact("guest", (CYN,), name("Quorvath"))


def stated(text: str, *facts: Fact) -> Stated:
    """What a text states of a task with these facts."""
    return Recogniser(task_of(facts)).stated(text)


def contradicted(found: Stated) -> set[str]:
    """The facts of which a text gives another value beside their anchor."""
    return {fact for each in found.contradicted for fact in each.about}


def strange(text: str, *facts: Fact) -> list[Value]:
    """The values in a text that a task with these facts does not know."""
    return [each.value for each in stated(text, *facts).strange]


def test_a_fact_is_stated_by_its_value() -> None:
    assert stated("I have 48,213, and bob 70561.", OF_BOB, OF_CYN).facts == {"number of bob", "number of cyn"}
    assert stated("I have the number.", OF_BOB).facts == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "LM-10382: red",
        "red for lm10382",
        "LM-10382 is red; BD-59120 is green",
        "LM-10382 = red, BD-59120 = green",
        "green (BD-59120), red (LM-10382)",
        "| LM-10382 | red |",
        '{"LM-10382": "RED"}',
        "We have LM-10382 and BD-59120.\nLM-10382: red",
        '[\n  {\n    "ballot": "LM-10382",\n    "vote": "red"\n  },\n  {\n    "ballot": "BD-59120"\n  }\n]',
        '{\n  "LM-10382": {\n    "vote": "red"\n  },\n  "BD-59120": {\n    "vote": "green"\n  }\n}',
        '{\n  "LM-10382": "red",\n  "BD-59120": "green"\n}',
        "- ballot: LM-10382\n  vote: red\n- ballot: BD-59120\n  vote: green",
        "LM-10382\n  - red\nBD-59120\n  - green",
        "| | LM-10382 | BD-59120 |\n|---|---|---|\n| vote | red | green |",
        "| LM-10382 | BD-59120 |\n|---|---|\n| red | green |",
        "| LM-10382 |\n|---|\n| red |",
        "BD-59120\tLM-10382\ngreen\tred",
        "ballot,LM-10382,BD-59120\nvote,red,green",
    ],
)
def test_a_fact_with_an_anchor_is_stated_by_the_value_beside_it(text: str) -> None:
    found = stated(text, BALLOT, OTHER_BALLOT)
    assert "ballot" in found.facts
    assert found.contradicted == ()


def test_neither_the_anchor_nor_the_value_alone_states_a_fact() -> None:
    for text in ("LM-10382 has arrived.", "Red is a colour.", "LM-10382 came. It was not red."):
        assert stated(text, BALLOT).facts == frozenset(), text


def test_another_value_beside_the_anchor_contradicts() -> None:
    found = stated("LM-10382: green", BALLOT)
    assert not found.facts
    assert contradicted(found) == {"ballot"}


def test_facts_of_the_same_anchor_do_not_contradict_each_other() -> None:
    found = stated("Dresevane has rank 90417. Dresevane: 65,728 hours.", RANK, HOURS)
    assert found.facts == {"rank", "hours"}
    assert not found.contradicted


def test_a_value_without_an_anchor_does_not_shift_the_others() -> None:
    other = Fact("other rank", (CYN,), number(33333), name("Quorvath"))
    found = stated("Dresevane -> 90417, I have 48213 and Quorvath -> 33333", RANK, other, OF_BOB)
    assert found.facts == {"rank", "other rank", OF_BOB.id}
    assert not found.contradicted


def test_a_wrong_number_beside_an_anchor_does_not_shift_the_others() -> None:
    other = Fact("other rank", (CYN,), number(33333), name("Quorvath"))
    found = stated("Dresevane 90471, Quorvath 33333", RANK, other)
    assert found.facts == {"other rank"}
    assert contradicted(found) == {"rank"}


def test_values_that_the_task_does_not_know_are_strange() -> None:
    assert strange("I have 48231.", OF_BOB) == [number(48231)]
    assert stated("It is 48213.", OF_BOB).strange == ()
    assert stated("Last year it was 55555.", OF_BOB).strange == (), "the question states it"


def test_a_value_is_not_strange_if_it_can_be_read_as_a_known_one() -> None:
    assert stated("It is 48213", OF_BOB).strange == ()


def test_a_word_that_resembles_a_name_is_strange() -> None:
    assert strange("The guest is Quorvaht.", GUEST) == [word("quorvaht")]
    assert stated("The guest is here.", GUEST).strange == ()


def test_a_value_is_concluded_where_its_sentence_speaks_of_a_result() -> None:
    found = stated("The highest so far is 48213. I have 70561.", OF_BOB, OF_CYN)
    assert number(48213) in found.concluded
    assert number(70561) not in found.concluded


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "item": "highest so far",\n  "value": 48213\n}',
        "highest_so_far=48213",
        "| seat | highest so far |\n|---|---|\n| bob | 48213 |",
        "All of mine are lower than 48213.",
    ],
)
def test_a_value_is_concluded_in_an_object_a_column_or_a_bound_that_says_so(text: str) -> None:
    assert number(48213) in stated(text, OF_BOB, OF_CYN).concluded
    assert not stated(re.sub(r"highest.so.far|lower than", "now", text), OF_BOB, OF_CYN).concluded


def test_the_value_beside_an_anchor_does_not_stand_for_itself() -> None:
    assert code("LM-10382") not in stated("LM-10382: red", BALLOT).values
    assert code("LM-10382") in stated("The best is LM-10382.", BALLOT).values


@pytest.mark.parametrize(
    ("other", "expected"), [("48231", True), ("48219", True), ("48213", False), ("4821", False), ("84231", False)]
)
def test_a_slip_changes_one_character_or_turns_two_neighbours(other: str, expected: bool) -> None:
    assert is_slip("48213", other) is expected


@pytest.mark.parametrize(
    "text",
    [
        "LM-10382\nred",
        "- LM-10382\n- red",
        "| BD-59120 | LM-10382 |\n|---|---|\n| red | green |",
        "| LM-10382 | BD-59120 |\n\n| red | green |",
        "| LM-10382 | BD-59120 | GX-20931 |\n| red | green |",
        '[{"ballot": "LM-10382"},\n {"vote": "red"}]',
        "LM-10382. Red is warm.",
    ],
)
def test_an_anchor_and_a_value_of_different_records_state_no_fact(text: str) -> None:
    assert stated(text, BALLOT, OTHER_BALLOT).facts == frozenset()


def test_a_column_may_be_far_below_its_heading_and_beside_columns_about_other_things() -> None:
    text = f"| place | LM-10382 | BD-59120 |\n| {'-' * 90} | --- | --- |\n| here | red | green |"
    assert stated(text, BALLOT).facts == {"ballot"}
    assert stated(text.replace("|", ","), BALLOT).facts == frozenset(), "prose has commas too"


def test_a_wrong_value_below_a_heading_contradicts() -> None:
    found = stated("| LM-10382 | BD-59120 |\n| green | green |", BALLOT, OTHER_BALLOT)
    assert found.facts == {"other ballot"}
    assert contradicted(found) == {"ballot"}


def test_a_changed_value_is_found_in_a_record_of_several_lines() -> None:
    text = '{\n  "ballot": "LM-10382",\n  "vote": "green"\n}'
    assert contradicted(stated(text, BALLOT, OTHER_BALLOT)) == {"ballot"}


def test_who_quotes_a_sentence_of_a_brief_concludes_nothing() -> None:
    told = "At the most, you carry 48213 stones."
    recogniser = Recogniser(replace(task_of((OF_BOB,)), briefs={BOB: f"You are a carrier. {told}"}))
    assert not recogniser.stated(f"bob knows: {told}").concluded
    assert number(48213) in recogniser.stated("You carry 48213 stones at the most.").concluded


def test_commas_in_sentences_make_no_table() -> None:
    text = "Of ann, of the highest. We saw.\nOf bob, 48213"
    assert not stated(text, OF_BOB).concluded
    assert stated(text.replace(". We saw.", ""), OF_BOB).concluded

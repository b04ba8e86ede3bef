"""Each cause of a wrong answer, in a line of three seats of which the first has to answer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from msgspec import structs
from pydantic import JsonValue

from concord.assessment.verdict import CauseKind
from concord.suite import Answers, Family, Grade, neighbours_of
from concord_evaluator.information.flow import flow_of
from concord_evaluator.information.part_causes import failures_of
from concord_evaluator.information.turns import Answered, Turns
from concord_evaluator.messages import Sent
from tests.unit.evaluator.information.tasks import (
    AGREE,
    ANN,
    BALLOT,
    BOB,
    CYN,
    DOT,
    FAMILY,
    OF_BOB,
    OF_CYN,
    SUM,
    AgreeFamily,
    sent,
    task_of,
)

ALL = (ANN, BOB, CYN)
FROM_BOTH = ((1, CYN, BOB, "70561"), (2, BOB, ANN, "48213 and 70561"))
BACK = ((3, ANN, BOB, "70561 and 48213"), (3, BOB, CYN, "48213"))


def found(
    *messages: tuple[int, str, str, str],
    answers: Mapping[str, str] | None = None,
    at: int = 3,
    end: int = 3,
    undelivered: Collection[int] = (),
    turns: Turns | None = None,
    in_rounds: bool = True,
) -> list[tuple[CauseKind, tuple[str, ...], tuple[str, ...]]]:
    """Cause, seats and facts of each failure; Ann answers wrong if nothing else is said."""
    task, given = task_of(), {ANN: "1"} if answers is None else answers
    flow = flow_of(task, FAMILY, sent(*messages, undelivered=undelivered))
    answered = Answered(dict.fromkeys(given, at), end, in_rounds)
    failures = failures_of(task, FAMILY, given, flow, answered, turns or Turns())
    return [(each.kind, each.agents, tuple(fact.text for fact in each.evidence)) for each in failures]


def test_a_right_answer_has_no_failure() -> None:
    assert found(answers={ANN: SUM}) == []


def test_a_fact_that_was_told_nobody_was_not_sent() -> None:
    assert found((1, CYN, BOB, "Hi"), (2, BOB, ANN, "48213")) == [(CauseKind.NOT_SENT, (CYN,), (OF_CYN.id,))]


def test_a_fact_that_went_to_nobody_of_that_name_was_misdirected() -> None:
    messages = ((1, CYN, "bobby", "70561"), (2, BOB, ANN, "48213"))
    assert found(*messages, undelivered={1}) == [(CauseKind.MISDIRECTED, (CYN,), (OF_CYN.id,))]


def test_a_fact_that_went_to_a_dead_end_was_misdirected() -> None:
    assert found((1, CYN, BOB, "70561"), (2, BOB, CYN, "48213"), (2, BOB, ANN, "70561")) == [
        (CauseKind.MISDIRECTED, (BOB,), (OF_BOB.id,))
    ]


def test_a_fact_that_stopped_on_its_way_was_not_passed_on() -> None:
    assert found((1, CYN, BOB, "70561"), (2, BOB, ANN, "48213")) == [(CauseKind.NOT_PASSED_ON, (BOB,), (OF_CYN.id,))]
    assert found((1, CYN, BOB, "70561"), (1, BOB, ANN, "48213")) == [(CauseKind.NOT_PASSED_ON, (BOB,), (OF_CYN.id,))]


def test_a_fact_that_its_holder_told_wrong_was_changed_by_it() -> None:
    assert found((1, CYN, BOB, "70651"), (2, BOB, ANN, "48213 and 70651")) == [
        (CauseKind.CHANGED, (CYN,), (OF_CYN.id,))
    ]


def test_a_fact_that_another_passed_on_wrong_was_changed_by_that_one() -> None:
    assert found((1, CYN, BOB, "70561"), (2, BOB, ANN, "48213 and 70651")) == [
        (CauseKind.CHANGED, (BOB,), (OF_CYN.id,))
    ]


def test_a_wrong_value_of_one_fact_does_not_explain_that_another_is_missing() -> None:
    messages = ((1, CYN, BOB, "70561"), (2, BOB, ANN, "48231"))
    assert found(*messages) == [
        (CauseKind.CHANGED, (BOB,), (OF_BOB.id,)),
        (CauseKind.NOT_PASSED_ON, (BOB,), (OF_CYN.id,)),
    ]


def test_a_fact_that_waited_until_the_last_round_was_too_late() -> None:
    messages = ((2, BOB, ANN, "48213"), (3, CYN, BOB, "70561"))
    assert found(*messages, undelivered={2}) == [(CauseKind.TOO_LATE, (CYN,), (OF_CYN.id,))]


def test_a_fact_that_was_sent_after_the_answer_was_too_late() -> None:
    messages = ((1, CYN, BOB, "70561"), (2, BOB, ANN, "70561"), (3, BOB, ANN, "48213"))
    assert found(*messages, end=4) == [(CauseKind.TOO_LATE, (BOB,), (OF_BOB.id,))]


def test_a_seat_that_waits_for_others_is_not_late() -> None:
    assert found(*FROM_BOTH, at=2) == [
        (CauseKind.ANSWERED_EARLY, (ANN,), (OF_BOB.id,)),
        (CauseKind.ANSWERED_EARLY, (ANN,), (OF_CYN.id,)),
    ]


def test_an_answer_before_anything_could_arrive_was_early() -> None:
    assert found(*FROM_BOTH, at=1) == [(CauseKind.ANSWERED_EARLY, (ANN,), (OF_BOB.id, OF_CYN.id))]
    assert found(at=1, end=1) == [(CauseKind.ANSWERED_EARLY, (ANN,), (OF_BOB.id, OF_CYN.id))]


def test_by_calls_a_seat_that_nobody_called_shares_a_silence_with_the_seat_that_needed_its_fact() -> None:
    called = (1, ANN, BOB, "What do you know?")
    assert found(called, at=2, end=2, in_rounds=False) == [
        (CauseKind.NOT_SENT, (BOB,), (OF_BOB.id,)),
        (CauseKind.NOT_SENT, (CYN, ANN), (OF_CYN.id,)),
    ]


def test_by_calls_nobody_is_late_who_waited_to_be_asked() -> None:
    late = ((5, CYN, BOB, "70561"), (6, BOB, ANN, "70561 and 48213"))
    assert {cause for cause, *_ in found(*late, at=3, end=7, in_rounds=False)} == {CauseKind.ANSWERED_EARLY}


def test_by_calls_a_seat_is_late_that_was_asked_before_and_told_it_only_later() -> None:
    task = task_of()
    asked, told = Sent("1", 1, ANN, BOB, "What do you know?", True), Sent("2", 3, BOB, ANN, "48213 and 70561", True)
    flow = flow_of(
        task,
        FAMILY,
        [Sent("0", 0, CYN, BOB, "70561", True), asked, structs.replace(told, step_id="1", time=2, text="Hi"), told],
    )
    failures = failures_of(task, FAMILY, {ANN: "1"}, flow, Answered({ANN: 3}, 4, in_rounds=False), Turns())
    assert {(each.kind, each.agents) for each in failures} == {(CauseKind.TOO_LATE, (BOB,))}


def test_by_calls_a_reply_without_an_answer_is_no_answer() -> None:
    task, flow = task_of(), flow_of(task_of(), FAMILY, sent(*FROM_BOTH))
    [failure] = failures_of(task, FAMILY, {}, flow, Answered({ANN: 3}, 3, in_rounds=False), Turns())
    assert (failure.kind, failure.agents) == (CauseKind.NO_ANSWER, (ANN,))


def test_a_wrong_answer_of_a_seat_that_knew_everything_did_not_use_it() -> None:
    assert found(*FROM_BOTH) == [(CauseKind.NOT_USED, (ANN,), ())]


def test_an_answer_in_another_form_is_unreadable() -> None:
    assert found(*FROM_BOTH, answers={ANN: "perhaps"}) == [(CauseKind.UNREADABLE, (ANN,), ())]


def test_an_unreadable_answer_of_a_seat_that_was_told_nothing_is_not_its_fault() -> None:
    assert found((2, BOB, ANN, "48213"), answers={ANN: "perhaps"}) == [(CauseKind.NOT_SENT, (CYN,), (OF_CYN.id,))]


def test_prose_instead_of_a_reply_is_unreadable_even_if_an_answer_can_be_read_in_it() -> None:
    turns = Turns(unreadable={ANN: frozenset({3})})
    assert found(*FROM_BOTH, turns=turns) == [(CauseKind.UNREADABLE, (ANN,), ())]


def test_no_answer_of_a_seat_that_knew_everything() -> None:
    assert found(*FROM_BOTH, answers={}) == [(CauseKind.NO_ANSWER, (ANN,), ())]


def test_an_agent_that_failed_told_nothing_and_gave_no_answer() -> None:
    of_cyn, of_ann = (Turns(failed={seat: frozenset({1, 2, 3})}) for seat in (CYN, ANN))
    assert found((2, BOB, ANN, "48213"), turns=of_cyn) == [(CauseKind.AGENT_FAILED, (CYN,), (OF_CYN.id,))]
    assert found(*FROM_BOTH, answers={}, turns=of_ann) == [(CauseKind.AGENT_FAILED, (ANN,), ())]


def test_a_seat_whose_replies_cannot_be_read_passed_nothing_on() -> None:
    turns = Turns(unreadable={BOB: frozenset({1, 2, 3})})
    assert found((1, CYN, BOB, "70561"), turns=turns) == [(CauseKind.UNREADABLE, (BOB,), (OF_BOB.id, OF_CYN.id))]


def test_the_message_that_shows_a_cause_is_named() -> None:
    task, messages = task_of(), sent((1, CYN, BOB, "70561"), (2, BOB, ANN, "48213 and 70651"))
    flow = flow_of(task, FAMILY, messages)
    [failure] = failures_of(task, FAMILY, {ANN: "1"}, flow, Answered({ANN: 3}, 3), Turns())
    assert failure.step_id == "2"


def test_of_several_holders_who_tell_nobody_none_is_named_alone() -> None:
    shared = replace(OF_CYN, holders=(BOB, CYN))
    task = task_of((shared,))
    [failure] = failures_of(task, FAMILY, {ANN: "1"}, flow_of(task, FAMILY, []), Answered({ANN: 3}, 3), Turns())
    assert (failure.kind, failure.agents) == (CauseKind.NOT_SENT, (BOB, CYN))


def test_a_seat_that_was_silent_in_the_middle_is_found_though_others_are_nearer() -> None:
    """All write to Ann, who passes on to Bob what Dot told her, but not what Cyn told her."""
    star = neighbours_of((ANN, BOB, CYN, DOT), [(ANN, BOB), (ANN, CYN), (ANN, DOT), (BOB, CYN)])
    task = task_of((OF_CYN, BALLOT), neighbours=star, answerers=(BOB,))
    messages = sent((1, CYN, ANN, "70561"), (1, CYN, ANN, "LM-10382: red"), (2, ANN, BOB, "LM-10382: red"))
    [failure] = failures_of(task, FAMILY, {BOB: "1"}, flow_of(task, FAMILY, messages), Answered({BOB: 3}, 3), Turns())
    assert (failure.kind, failure.agents) == (CauseKind.NOT_PASSED_ON, (ANN,))


def common(
    *messages: tuple[int, str, str, str], answers: Mapping[str, str], family: Family = AGREE
) -> Sequence[tuple[str | None, CauseKind, tuple[str, ...]]]:
    """Part, cause and seats of each failure where all seats must give the same answer."""
    task = task_of(answerers=ALL)
    flow = flow_of(task, family, sent(*messages))
    failures = failures_of(task, family, answers, flow, Answered(dict.fromkeys(answers, 4), 4), Turns())
    return [(each.part, each.kind, each.agents) for each in failures]


def test_a_seat_is_not_blamed_for_others_who_were_told_nothing() -> None:
    messages = (FROM_BOTH[0], (2, BOB, ANN, "48213"), (3, BOB, CYN, "48213"))
    assert common(*messages, answers={ANN: "1", BOB: SUM, CYN: "2"}) == [
        (ANN, CauseKind.NOT_PASSED_ON, (BOB,)),
        (BOB, CauseKind.NOT_PASSED_ON, (BOB,)),
        (CYN, CauseKind.NOT_PASSED_ON, (BOB,)),
    ]


def test_those_whose_answer_would_be_wrong_even_if_all_agreed_are_blamed() -> None:
    assert common(*FROM_BOTH, *BACK, answers={ANN: "1", BOB: SUM, CYN: "2"}) == [
        (part, CauseKind.NOT_USED, (ANN, CYN)) for part in ALL
    ]


class PairFamily(AgreeFamily):
    """All answers are right if each seat names a seat that names it, and one names none."""

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for every seat, or 0."""
        del key
        right = answers == {ANN: "48213", BOB: "70561", CYN: "none"}
        return Grade(dict.fromkeys(ALL, float(right)))


def test_of_answers_that_do_not_fit_the_seat_is_blamed_that_could_set_them_right_alone() -> None:
    answers = {ANN: "48213", BOB: "none", CYN: "none"}
    assert common(*FROM_BOTH, *BACK, answers=answers, family=PairFamily()) == [
        (part, CauseKind.NOT_USED, (BOB,)) for part in ALL
    ]


class TestLiars:
    """A wrong value is blamed on its author, not on the seat that believed it."""

    def test_a_truth_that_its_author_takes_back_is_contradicted_by_the_author(self) -> None:
        messages = (*FROM_BOTH, (3, BOB, ANN, "Sorry, mine is 48231 and not what I said before."))
        assert found(*messages, at=5, end=5) == [(CauseKind.CONTRADICTED, (BOB,), ())]

    def test_a_relay_of_a_lie_is_not_its_author(self) -> None:
        messages = (*FROM_BOTH, (3, CYN, BOB, "mine is 70651 after all"), (4, BOB, ANN, "cyn says 70651 now"))
        assert found(*messages, at=6, end=6) == [(CauseKind.CONTRADICTED, (CYN,), ())]

    def test_a_correction_to_the_truth_misleads_nobody(self) -> None:
        messages = (*FROM_BOTH, (3, BOB, ANN, "mine is 48231"), (4, BOB, ANN, "no: it is 48213"))
        assert found(*messages, at=6, end=6) == [(CauseKind.NOT_USED, (ANN,), ())]

    def test_a_value_from_nowhere_is_invented_by_its_first_sender(self) -> None:
        messages = ((1, ANN, BOB, "dot has 91999"), *FROM_BOTH, (3, BOB, ANN, "so 91999 counts, too"))
        assert found(*messages, at=5, end=5) == [(CauseKind.INVENTED, (ANN,), ())]

    def test_an_old_value_of_the_question_and_a_sum_mislead_nobody(self) -> None:
        messages = (*FROM_BOTH, (3, BOB, ANN, f"last year it was 55555, so far it is {SUM}"))
        assert found(*messages, at=5, end=5) == [(CauseKind.NOT_USED, (ANN,), ())]

    def test_two_values_in_one_message_are_contradicted_by_its_author(self) -> None:
        messages = (FROM_BOTH[0], (2, BOB, ANN, "48213 and 70561, no, 48231 and 70561"))
        assert found(*messages) == [(CauseKind.CONTRADICTED, (BOB,), ())]

    def test_an_author_who_ends_with_the_truth_misleads_nobody(self) -> None:
        messages = (FROM_BOTH[0], (2, BOB, ANN, "48231, sorry: 48213, and 70561"))
        assert found(*messages) == [(CauseKind.NOT_USED, (ANN,), ())]

    def test_a_relay_that_ends_with_the_truth_does_not_take_back_the_lie_of_another(self) -> None:
        messages = ((1, ANN, BOB, "number of cyn: 91999"), FROM_BOTH[0], (2, BOB, ANN, "91999, 48213 and 70561"))
        assert found(*messages) == [(CauseKind.INVENTED, (ANN,), ())]

    def test_an_author_takes_a_lie_back_also_through_a_relay(self) -> None:
        messages = (
            (1, CYN, BOB, "70651"),
            (2, BOB, ANN, "70651"),
            (2, CYN, BOB, "70561"),
            (3, BOB, ANN, "48213, 70561"),
        )
        assert found(*messages, at=5, end=5) == [(CauseKind.NOT_USED, (ANN,), ())]

    def test_a_seat_is_not_misled_about_its_own_brief(self) -> None:
        task = task_of(answerers=(BOB,))
        flow = flow_of(task, FAMILY, sent(FROM_BOTH[0], (1, ANN, BOB, "number of bob: 48231")))
        [failure] = failures_of(task, FAMILY, {BOB: "1"}, flow, Answered({BOB: 3}, 3), Turns())
        assert (failure.kind, failure.agents) == (CauseKind.NOT_USED, (BOB,))

    def test_a_difference_of_known_numbers_misleads_nobody(self) -> None:
        messages = (*FROM_BOTH, (3, BOB, ANN, f"they are {70561 - 48213} apart"))
        assert found(*messages, at=5, end=5) == [(CauseKind.NOT_USED, (ANN,), ())]

    def test_a_lie_that_is_passed_on_instead_of_the_truth_is_its_authors(self) -> None:
        messages = ((1, CYN, BOB, "70561, or rather 70651"), (2, BOB, ANN, "48213 and 70651"))
        assert found(*messages) == [(CauseKind.CONTRADICTED, (CYN,), (OF_CYN.id,))]

    def test_a_value_that_is_lost_to_one_seat_and_misleads_another_has_one_cause(self) -> None:
        task = task_of(answerers=(ANN, BOB))
        messages = sent(FROM_BOTH[0], (2, BOB, ANN, "in all that makes 91999"), (3, ANN, BOB, "in all 91999"))
        flow = flow_of(task, FAMILY, messages)
        failures = failures_of(task, FAMILY, {ANN: "1", BOB: "1"}, flow, Answered({ANN: 4, BOB: 4}, 4), Turns())
        assert {(each.part, each.kind, each.agents) for each in failures} == {
            (part, CauseKind.CHANGED, (BOB,)) for part in (ANN, BOB)
        }

    def test_a_fact_beyond_the_end_of_a_cut_message_is_truncated(self) -> None:
        task = task_of()
        cut = Sent("1", 1, CYN, BOB, "very long", True, is_cut=True)
        flow = flow_of(task, FAMILY, [cut, *sent((2, BOB, ANN, "48213"))])
        [failure] = failures_of(task, FAMILY, {ANN: "1"}, flow, Answered({ANN: 3}, 3), Turns())
        assert (failure.kind, failure.agents, failure.step_id) == (CauseKind.TRUNCATED, (CYN,), "1")

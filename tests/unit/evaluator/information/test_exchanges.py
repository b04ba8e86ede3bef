"""Calls as messages in time order: requests carry facts to callees, and answers carry facts back."""

from datetime import UTC, datetime, timedelta
from typing import Any

from concord.assessment.results import SeatReply
from concord.trace.attributes import AGENT_NAME, GATEWAY, NOT_CARRIED, RESPONSE_TEXT, WHOLE, whole_pieces
from concord.trace.report import Channel, ReportBatch
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord.trace.stored_step import SerialisedBatch, Step, TraceBatch
from concord.wire.roster import GREEN_AGENT, Roster, RosterEntry
from concord_evaluator.information.exchanges import MAX_TIMES, Exchanged, by_calls
from concord_evaluator.information.flow import flow_of
from tests.unit.evaluator.information.tasks import ANN, BOB, CYN, FAMILY, OF_BOB, OF_CYN, task_of

START = datetime(2031, 1, 1, tzinfo=UTC)
ROSTER = Roster([RosterEntry(id=seat, url="http://agent:9009/") for seat in (ANN, BOB, CYN)])


def call(
    caller: str,
    callee: str,
    began: float,
    ended: float,
    request: str,
    answer: str,
    **more: Any,  # noqa: ANN401
) -> InteractionStep:
    """An observed call; times in seconds."""
    attributes = {AGENT_NAME: caller, RESPONSE_TEXT: answer, "task_state": "completed"} | more
    requests = {"text": request} | ({WHOLE: more.pop(WHOLE)} if WHOLE in more else {})
    attributes.pop(WHOLE, None)
    invocation = AgentInvocation(agent_url="http://agent:9009/", agent_name=callee, requests=requests)
    return InteractionStep(
        step_id=f"{caller} {callee} {began}",
        trace_id="t",
        call_type=CallType.AGENT,
        step_action=StepAction(agent_invocation=invocation),
        additional_attributes=attributes,
        start_time=START + timedelta(seconds=began),
        end_time=START + timedelta(seconds=ended),
    )


def read(*steps: InteractionStep, replied: float = 100) -> Exchanged:
    """The exchange of a trial in which Ann replied at a time."""
    batch = SerialisedBatch.of(TraceBatch("b", "t", GREEN_AGENT, list(map(Step.of, steps))))
    batches: list[ReportBatch] = [batch.received(Channel.OBSERVED, authenticated=True)]
    reply = SeatReply(seat=ANN, at=START + timedelta(seconds=replied), state="replied")
    late = SeatReply(seat=CYN, at=START, state="late", error="no answer")
    return by_calls(batches, ROSTER, [reply, late])


ASKED = call(ANN, BOB, 1, 9, "What do you know?", "48213, and Cyn has 70561.")
NESTED = call(BOB, CYN, 2, 8, "And you?", "70561")


def test_the_answer_to_a_nested_call_comes_before_the_answer_that_holds_it() -> None:
    found = read(ASKED, NESTED)
    assert [(each.sender, each.receiver) for each in found.messages] == [
        (ANN, BOB),
        (BOB, CYN),
        (CYN, BOB),
        (BOB, ANN),
    ]
    assert [each.time for each in found.messages] == [1, 2, 3, 4]


def test_facts_come_back_with_answers() -> None:
    found = read(ASKED, NESTED)
    flow = flow_of(task_of(), FAMILY, found.messages)
    time = found.answered.times[ANN]
    assert flow.coverage(ANN, [OF_BOB.id, OF_CYN.id], time) == 1
    assert not flow.knew(CYN, OF_BOB.id, time)
    assert (found.count, found.redundant(flow)) == (2, 0)


def test_an_answer_after_the_seats_own_reply_came_too_late_for_it() -> None:
    found = read(ASKED, NESTED, replied=5)
    flow = flow_of(task_of(), FAMILY, found.messages)
    assert flow.coverage(ANN, [OF_BOB.id, OF_CYN.id], found.answered.times[ANN]) == 0


def test_a_call_that_brings_nobody_anything_is_redundant() -> None:
    again = call(ANN, BOB, 20, 21, "What do you know?", "48213")
    found = read(ASKED, again)
    assert found.redundant(flow_of(task_of(), FAMILY, found.messages)) == 1


def test_a_refused_call_reached_nobody_and_a_failed_one_may_have() -> None:
    refused = call(ANN, CYN, 1, 1, "mine", "", error="no neighbour", **{NOT_CARRIED: GATEWAY})
    failed = call(ANN, BOB, 2, 3, "mine", "", error="timeout")
    found = read(refused, failed)
    assert [each.delivered for each in found.messages] == [False, True]
    assert found.count == 0


def test_messages_are_read_beyond_what_is_quoted() -> None:
    quoted, rest = "x" * 4_000, "y" * 9_000
    long = call(BOB, ANN, 1, 2, quoted, quoted, **{WHOLE: f"{quoted}48213"}, **whole_pieces(f"{quoted}{rest}70561"))
    texts = [each.text for each in read(long).messages]
    assert [text[-5:] for text in texts] == ["48213", "70561"]


def test_seats_without_a_reply_failed_at_all_times_and_coverage_has_a_limit() -> None:
    found = read(*(call(ANN, BOB, 2 * each, 2 * each + 1, "?", "48213") for each in range(150)), replied=400)
    assert found.turns.fault(CYN, [1]) is not None
    assert found.turns.fault(ANN, range(1, 400)) is None
    assert len(found.times) == MAX_TIMES
    assert found.times[-1] == 300

"""Spans that participants export during a trial: their agents, and their calls to other participants."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from msgspec import to_builtins
from msgspec.structs import replace as changed

from concord.trace.attributes import AGENT_NAME
from concord.trace.decoding import reports_of
from concord.trace.otlp import Span, as_attributes, to_step
from concord.trace.report import Channel, ReportBatch, StepBatch
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord.trace.stored_step import SerialisedBatch, Step, TraceBatch
from concord.wire.roster import GREEN_AGENT, Roster, RosterEntry
from concord_evaluator.formats.live_spans import MAX_SPANS, with_teams
from concord_evaluator.trace import Projection, project

TRACE = "5b8efff798038103d269b633813fc60c"
ROSTER = Roster(RosterEntry(id=name, url=f"http://{name}:9009/") for name in ("lead", "critic", "writer"))
PROXY = "http://gateway/a2a/-/{}/"


def id_of(name: str) -> str:
    """A span id made of a name."""
    return name.encode().hex().ljust(16, "0")[:16]


def span(name: str, agent: str = "", parent: str = "", *, address: str = "", at: int = 1, client: bool = False) -> Span:
    """A span, named as in the test. `agent`: the agent whose work it is."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent} if agent else {}
    return Span(
        trace_id=TRACE, span_id=id_of(name), parent_id=id_of(parent) if parent else "", name=name, scope="s",
        service="", start_ns=at * 1000, end_ns=at * 1000 + 500, client=client or bool(address), failed=False,
        message="", attributes=attributes, address=address,
    )  # fmt: skip


def exported(participant: str, *spans: Span) -> ReportBatch:
    steps = []
    for each in spans:
        step = to_step(each)
        steps.append(changed(step, additional_attributes=step.additional_attributes | as_attributes(each)))
    return batch(participant, Channel.OTLP, steps)


def observed(name: str, caller: str, callee: str, at: int = 1) -> ReportBatch:
    call = InteractionStep(
        step_id=id_of(name),
        trace_id=TRACE,
        call_type=CallType.AGENT,
        step_action=StepAction(agent_invocation=AgentInvocation(agent_url=PROXY.format(callee), agent_name=callee)),
        additional_attributes={AGENT_NAME: caller},
        start_time=datetime.fromtimestamp(at, UTC),
    )
    return batch(GREEN_AGENT, Channel.OBSERVED, [call])


def batch(reporter: str, channel: Channel, steps: Sequence[InteractionStep | Step]) -> ReportBatch:
    facts = [to_builtins(step) if isinstance(step, Step) else step for step in steps]
    written = StepBatch.model_validate({"trace_id": TRACE, "reporter": reporter, "steps": facts})
    return SerialisedBatch.of(TraceBatch.of(written)).received(channel, authenticated=True)


def of_trial(*batches: ReportBatch) -> Projection:
    aliased = [entry.model_copy(update={"aliases": (PROXY.format(entry.id),)}) for entry in ROSTER]
    roster = Roster(aliased)
    read, _ = with_teams(batches, roster)
    return project((each for one in read for each in reports_of(one)), roster, observed=True, live=True)


def calls(trial: Projection) -> list[tuple[str, str, str]]:
    return [(call.caller, call.callee, call.provenance.value) for call in trial.interactions]


def test_the_only_agent_of_a_participant_is_the_participant() -> None:
    trial = of_trial(exported("lead", span("work", "adk_root_agent")))
    assert trial.agents == ("critic", "lead", "writer")


def test_a_span_with_another_participants_name_is_the_observed_call_to_it() -> None:
    spans = exported("lead", span("work", "root"), span("ask", "critic", "work"))
    trial = of_trial(spans, observed("call", "lead", "critic"))
    assert calls(trial) == [("lead", "critic", "observed")]
    assert trial.contradictions.total == 0


def test_of_two_such_spans_and_one_observed_call_the_other_went_past_the_gateway() -> None:
    spans = exported("lead", span("work", "root"), span("ask", "critic", "work"), span("again", "critic", "work", at=2))
    trial = of_trial(spans, observed("call", "lead", "critic"))
    assert sorted(calls(trial)) == [("lead", "critic", "observed"), ("lead", "critic", "reported")]
    assert trial.contradictions.total == 0


def test_an_observed_call_belongs_to_the_agent_whose_span_has_its_id() -> None:
    spans = exported(
        "lead", span("one", "planner"), span("two", "asker", "one"), span("call", parent="two", client=True)
    )
    trial = of_trial(spans, observed("call", "lead", "critic"))
    assert ("lead/asker", "critic", "observed") in calls(trial)
    assert ("lead", "critic", "observed") not in calls(trial)


def test_a_call_with_an_agents_span_and_a_clients_span_counts_once() -> None:
    spans = exported(
        *("lead", span("work", "root"), span("ask", "critic", "work"), span("call", parent="ask", client=True))
    )
    assert calls(of_trial(spans, observed("call", "lead", "critic"))) == [("lead", "critic", "observed")]


@pytest.mark.parametrize(
    ("address", "found"),
    [("http://critic:9009/rpc", [("lead", "critic", "reported")]), ("http://weather.example/", []), ("", [])],
)
def test_a_request_to_a_participants_address_is_a_reported_call(
    address: str, found: list[tuple[str, str, str]]
) -> None:
    spans = exported("lead", span("work", "root"), span("post", parent="work", address=address, client=True))
    assert calls(of_trial(spans)) == found


def test_a_participant_that_continues_anothers_span_was_called_by_it() -> None:
    trial = of_trial(
        exported("lead", span("work", "root"), span("post", parent="work", address="http://critic-behind-nat/")),
        exported("critic", span("serve", "reviewer", "post")),
    )
    assert calls(trial) == [("lead", "critic", "corroborated")]


def test_a_participant_whose_card_another_one_fetches_was_not_called() -> None:
    trial = of_trial(
        exported("lead", span("work", "root"), span("get", parent="work", client=True)),
        exported("critic", span("serve", parent="get")),
    )
    assert calls(trial) == []


def test_an_agent_at_another_participants_address_is_that_participant() -> None:
    spans = exported("lead", span("work", "root"), span("ask", "Any Name", "work", address="http://critic:9009/"))
    assert calls(of_trial(spans)) == [("lead", "critic", "reported")]


def test_agents_that_answer_different_calls_do_not_follow_each_other() -> None:
    spans = exported("lead", span("one", "planner", "first"), span("two", "asker", "second", at=2))
    trial = of_trial(observed("first", "writer", "lead"), observed("second", "writer", "lead"), spans)
    assert {(call.caller, call.callee) for call in trial.interactions} == {("writer", "lead")}


def test_no_participant_changes_the_reading_of_anothers_spans() -> None:
    mine = exported("lead", span("one", "planner"), span("two", "asker", "one"))
    forged = exported("writer", span("one", "nobody"), span("two", "nobody", "one"))
    pair = ("lead/planner", "lead/asker", "reported")
    assert pair in calls(of_trial(mine))
    assert pair in calls(of_trial(forged, mine))


def test_too_many_spans_are_read_one_by_one_with_a_warning() -> None:
    spans = [span("one", "planner")] * (MAX_SPANS + 1)
    chunks = [exported("lead", *spans[start : start + 1000]) for start in range(0, len(spans), 1000)]
    _, warnings = with_teams(chunks, ROSTER)
    assert warnings == [f"lead: {MAX_SPANS + 1} spans are too many to find its agents"]


def test_batches_without_stored_spans_are_kept() -> None:
    batches = [observed("call", "lead", "critic"), batch("lead", Channel.OTLP, [to_step(span("one", "planner"))])]
    assert with_teams(batches, ROSTER) == (batches, [])

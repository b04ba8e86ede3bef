"""The conversation of a trial that was played: what the gateway carried, and what agents say of themselves."""

from base64 import b64encode

from concord.assessment import Mode
from concord.assessment.recorded_work import RecordedWork
from concord.trace.report import Channel, Report, StepBatch
from concord.trace.step import InteractionStep, StepAction, ToolInvocation
from concord.trace.stored_step import SerialisedBatch, TraceBatch
from concord.trust.redaction import REDACTED, TOKEN_PREFIX
from concord.wire.roster import GREEN_AGENT
from concord_collector.traces import parse_batch
from concord_evaluator.pipeline import evaluate_trial
from tests.kit.judged_trials import TEAM, call_with_texts, carried, conversation
from tests.kit.leaks import left_of
from tests.kit.traces import TRACE_ID, reported_by, tool
from tests.kit.trials import batch, outcome, plan


def work_of(*reports: Report) -> RecordedWork:
    batches = [batch(number, [report]) for number, report in enumerate(reports)]
    work = evaluate_trial(plan(TEAM), outcome(), batches).work
    assert work is not None
    return work


def saw(step_id: str, **attributes: str) -> InteractionStep:
    used = StepAction(tool_invocation=ToolInvocation(tool_name="saw", parameters={"length": "2 m"}))
    return tool(step_id, attributes=attributes).model_copy(update={"step_action": used})


def said(*reports: Report) -> list[tuple[str, str, str, str]]:
    return [(each.agent, each.name, each.input, each.output) for each in work_of(*reports).said]


CARRIED = [
    ("anton", "bertha", "Count the trees in the park, anton asked.", "There are 12."),
    ("bertha", "cyril", "Is 12 right?", "Yes, it is."),
]


def test_has_the_task_and_what_the_gateway_carried() -> None:
    assert said(*conversation()) == CARRIED
    assert work_of(*conversation()).task == plan(TEAM).tasks[0].text


def test_has_what_the_assessor_said() -> None:
    [given] = carried(GREEN_AGENT, call_with_texts("s0", "anton", "Count the trees.", "There are 12."))
    assert said(given) == [(GREEN_AGENT, "anton", "Count the trees.", "There are 12.")]


def test_keeps_the_carried_text_of_a_call_whatever_others_report_of_it() -> None:
    forged = reported_by("cyril", call_with_texts("s1", "bertha", "Give me the key, and much more than that.", "Here."))
    assert said(*forged, *conversation()) == said(*conversation(), *forged) == CARRIED


def test_has_no_call_that_is_not_in_the_graph() -> None:
    claimed = reported_by("cyril", call_with_texts("s9", "anton", "I never said so.", "Nor did I."))
    quoted = {each.step_id for each in work_of(*conversation(), *claimed).said}
    trial = evaluate_trial(plan(TEAM), outcome(), [batch(0, [*conversation()]), batch(1, [*claimed])])
    assert quoted == {call.step_id for call in trial.calls}


def test_has_the_uses_that_agents_report_of_themselves_alone() -> None:
    own = reported_by("anton", saw("t1"))
    others = reported_by("cyril", saw("t2", agent_name="anton"))
    work = work_of(*conversation(), *own, *others)
    assert [(use.agent, use.name, use.calls) for use in work.uses] == [("anton", "saw", 1)]


def test_has_no_secret_that_the_gateway_carried_or_a_participant_reported() -> None:
    hidden = TOKEN_PREFIX + "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbnRvbiJ9"
    encoded = b64encode(f"key: {hidden}".encode()).decode()
    asked = call_with_texts("s1", "bertha", f"With {hidden} count.", f"It was {encoded}.")
    failed = call_with_texts("s2", "bertha", "Again.", "").model_copy(update={"error": f"401 for {hidden}"})
    steps = [report.step for step in (asked, failed) for report in carried("anton", step)]
    seen = SerialisedBatch.of(TraceBatch("b1", TRACE_ID, GREEN_AGENT, steps))
    used = saw("t1").model_copy(update={"error": f"no access with {hidden}"})
    told = StepBatch(batch_id="b2", trace_id=TRACE_ID, reporter="anton", steps=[used])
    reported = parse_batch(told.model_dump_json().encode())
    batches = [
        seen.received(Channel.OBSERVED, authenticated=True),
        reported.received(Channel.HTTP, authenticated=True),
    ]
    trial = evaluate_trial(plan(TEAM), outcome(), batches)
    assert trial.work is not None
    text = trial.work.model_dump_json()
    assert (hidden in text, left_of(hidden, text.encode())) == (False, set())
    by_step = {each.step_id: each for each in trial.work.said}
    assert by_step["s1"].input == f"With {REDACTED} count."
    assert by_step["s2"].error == f"401 for {REDACTED}"
    assert by_step["t1"].error == f"no access with {REDACTED}"


def test_lists_no_failure_apart_from_the_causes() -> None:
    [failed] = carried("anton", call_with_texts("s1", "bertha", "Count.", ""))
    work = work_of(failed)
    assert (work.failures, work.failed) == ([], 0)


def test_is_empty_for_a_given_pattern() -> None:
    given = plan(TEAM).model_copy(update={"mode": Mode.GROUND_TRUTH})
    work = evaluate_trial(given, outcome(), []).work
    assert work is not None
    assert (work.said, work.uses) == ([], [])

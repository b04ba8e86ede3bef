"""Expected answers in a file: how they are read, which trace they are of, and that they count before its own."""

import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.recorded_work import Redaction
from concord.trace.otlp import Span, as_attributes, to_step
from concord.trace.report import Channel, ReportBatch
from concord.trace.stored_step import SerialisedBatch, TraceBatch
from concord_evaluator.expectations import Expectations, graded, read_expectations
from concord_evaluator.formats import redactor
from concord_evaluator.offline import evaluate_trace
from tests.kit.recordings import QUESTION, otlp, trace_of
from tests.kit.traces import TRACE_ID
from tests.kit.trials import evaluated, plan


def read_csv(*lines: str) -> Expectations:
    return read_expectations(lines, as_csv=True)


def read_json(*lines: str) -> Expectations:
    return read_expectations(lines, as_csv=False)


@pytest.mark.parametrize("key", ["the trace's id", "q-7", QUESTION])
def test_an_answer_is_found_by_trace_id_task_id_and_text(key: str) -> None:
    trace = trace_of(otlp("Bergen", concord__task_id="q-7"))
    expected = read_csv("task,target", f"{trace.trace_id if key.startswith('the') else key},Bergen")
    found = graded(trace, expected).grading
    assert found is not None
    assert (found.value, found.scorer, found.reason, expected.unused) == (1.0, "includes", None, [])


def test_what_a_file_expects_counts_before_what_the_trace_declares() -> None:
    trace = trace_of(otlp("Bergen", concord__target="Bergen", eval__correctness__label="correct"))
    row = evaluate_trace(graded(trace, read_json(f'{{"task": "{QUESTION}", "target": "Oslo"}}')), AssessmentConfig())
    assert (row.score, row.detail.scoring.judged_by_code) == (0.0, 1)


def test_lines_of_csv_with_one_id_add_up_and_json_has_a_list() -> None:
    of_csv = read_csv("task,target,scorer", "a,one,exact", "a,two,exact")
    of_json = read_json('{"task": "a", "target": ["one", "two"], "scorer": "exact"}')
    assert of_csv.by_id == of_json.by_id


def test_options_of_a_scorer_are_an_object() -> None:
    [of_csv] = read_csv("task,target,scorer", 'a,12,"{""name"": ""numeric"", ""tolerance"": 1}"').by_id.values()
    [of_json] = read_json('{"task": "a", "target": 12, "scorer": {"name": "numeric", "tolerance": 1}}').by_id.values()
    assert of_csv == of_json


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["task,target"], "1: it has no expected answer"),
        (["name,target", "a,one"], "2: neither `trace` nor `task`"),
        (["task,target", "a,"], "2: .*needs a `target`"),
        (["task,target,scorer", "a,one,model"], "2: the scorer 'model' is not code"),
        (["task,target,scorer", "a,one,exact", "a,two,match"], "3: a second line for 'a'"),
        (["task,target,scorer", "a,one,{"], "2: "),
    ],
)
def test_a_line_that_says_no_answer_is_an_error_with_its_number(lines: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{reason}"):
        read_csv(*lines)


@pytest.mark.parametrize("line", ["[]", "{", '{"task": "a"}'])
def test_a_line_of_json_that_says_no_answer_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"^1: "):
        read_json(line)


def test_the_answer_is_graded_before_texts_are_dropped_and_no_text_stays_in_the_grade() -> None:
    trace = graded(trace_of(otlp("Bergen", concord__target="Bergen")))
    row = evaluate_trace(redactor(Redaction.DROP)(trace), AssessmentConfig())
    assert row.score == 100.0
    assert "Bergen" not in row.model_dump_json()


def test_a_run_that_failed_is_wrong_whatever_it_answered() -> None:
    document = otlp("Bergen", concord__target="Bergen").replace('"attributes"', '"status": {"code": 2}, "attributes"')
    row = evaluate_trace(trace_of(document), AssessmentConfig())
    assert (row.score, row.detail.trials[0].state) == (0.0, "failed")


def exported(**attributes: str) -> ReportBatch:
    """What participant A exports of its work during a trial."""
    declared = {key.replace("__", "."): value for key, value in attributes.items()}
    span = Span(
        trace_id=TRACE_ID, span_id="1" * 16, parent_id="", name="A", scope="s", service="", start_ns=1000, end_ns=2000,
        client=False, failed=False, message="", address="",
        attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "A", **declared},
    )  # fmt: skip
    step = to_step(span)
    step.additional_attributes.update(as_attributes(span))
    written = TraceBatch(batch_id="1", trace_id=TRACE_ID, reporter="A", steps=[step])
    return SerialisedBatch.of(written).received(Channel.OTLP, authenticated=True)


@pytest.mark.parametrize("graded_by_task", [True, False])
def test_what_a_participant_declares_of_a_live_trial_counts_for_nothing(graded_by_task: bool) -> None:
    planned = plan("AB", graded=graded_by_task)
    silent = evaluated(planned, [exported()])
    telling = evaluated(
        planned, [exported(concord__target="x", concord__task_id="q", eval__correctness__label="wrong")]
    )
    assert telling.grading == silent.grading
    assert telling.observations == silent.observations

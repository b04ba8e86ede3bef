"""Stored batches: what they tell is what their reports tell, and few of them are read a second time."""

import json
import pickle
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.trace.decoding import ReadBatch, StoredReports, read
from concord.trace.report import Channel, Report, ReportBatch, pack, unpack
from concord.trace.step import InteractionStep
from concord.trace.stored_step import Step, content_digest, read_usual
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.trace import project
from concord_evaluator.trace.fold import fold
from tests.kit.arbitrary import AGENTS, reports
from tests.kit.strategies import steps
from tests.kit.traces import model_of, roster
from tests.unit.evaluator.trace.test_decoding import forms

TOLD = st.lists(st.lists(reports(), min_size=1, max_size=4), max_size=4)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def stored(sent: list[dict[str, Any]], like: Report) -> ReportBatch:
    """The steps as one batch, with what only the reporter of `like` says."""
    body = json.dumps({"batch_id": "b", "trace_id": "t", "reporter": like.reporter, "steps": sent}).encode()
    return ReportBatch(
        "b", "t", like.reporter, like.authenticated, like.channel, NOW, len(sent), 0, pack(body), n_nested=0
    )


def written(step: InteractionStep) -> dict[str, Any]:
    document: dict[str, Any] = step.model_dump(mode="json", exclude_none=True)
    return document


@given(TOLD)
def test_stored_batches_fold_to_the_same_as_their_reports(batches: list[list[Report]]) -> None:
    batch = [stored([written(model_of(each)) for each in told], told[0]) for told in batches]
    flat = [each._replace(**_source_of(told[0])) for told in batches for each in told]
    found, expected = fold(StoredReports(batch)), fold(flat)
    assert found.records == expected.records
    assert (found.duplicate, found.conflicting, found.texts) == (
        expected.duplicate,
        expected.conflicting,
        expected.texts,
    )
    team = roster(*AGENTS)
    assert project(StoredReports(batch), team).uses == project(flat, team).uses


def _source_of(report: Report) -> dict[str, Any]:
    return {"reporter": report.reporter, "authenticated": report.authenticated, "channel": report.channel}


@given(steps, forms, st.booleans())
def test_any_form_of_a_step_is_read_as_the_models_read_it(
    step: InteractionStep, changes: dict[str, JsonValue], camel: bool
) -> None:
    sent = json.loads(step.model_dump_json(exclude_none=True, by_alias=camel)) | changes
    report = Report(Step.of(InteractionStep.model_validate(sent)), "ann", False, Channel.HTTP, NOW)
    [found], [expected] = fold(StoredReports([stored([sent], report)])).records, fold([report]).records
    assert found == expected


def _in_memory(batch: ReportBatch) -> ReadBatch:
    """The batch with its steps in memory, without those that only the models read, and those with answers."""
    read = read_usual(unpack(batch.body))
    steps = [] if read is None else [step for step in read.steps if not step.answer_steps]
    head = (batch.batch_id, batch.trace_id, batch.reporter, batch.authenticated, batch.channel, batch.received_at)
    return ReadBatch(*head, len(steps), batch.dropped, steps=steps)


@given(TOLD)
def test_steps_in_memory_fold_to_the_same_as_their_batch_in_another_process(batches: list[list[Report]]) -> None:
    batch = [stored([written(model_of(each)) for each in told], told[0]) for told in batches]
    here = [_in_memory(each) for each in batch]
    elsewhere: list[ReportBatch] = pickle.loads(pickle.dumps(here))  # noqa: S301 - written here
    assert not any(isinstance(each, ReadBatch) for each in elsewhere)
    found, expected = fold(StoredReports(here)), fold(StoredReports(elsewhere))
    assert found.records == expected.records
    assert (found.duplicate, found.conflicting, found.texts) == (
        expected.duplicate,
        expected.conflicting,
        expected.texts,
    )
    assert [*StoredReports(here)] == [*StoredReports(elsewhere)]


def test_only_repetitions_that_no_column_tells_apart_are_read_again() -> None:
    claim = {"step_id": "1", "trace_id": "t", "call_type": "AGENT", "name": "B"}
    seen = claim | {"additional_attributes": {"agent_name": "A"}}
    observed = Report(Step.of(InteractionStep.model_validate(seen)), GREEN_AGENT, True, Channel.OBSERVED, NOW)
    claimed = observed._replace(reporter="A", channel=Channel.HTTP)
    read_again = []
    for again in (seen, claim):
        with patch("concord_evaluator.trace.fold.content_digest", wraps=content_digest) as reading:
            trace = fold(StoredReports([stored([again], claimed), stored([seen], observed)]))
        read_again.append((reading.call_count, len(trace.records)))
    assert read_again == [(2, 1), (0, 2)]
    assert [each.attestations[0].observed for each in trace.records] == [True, False]


def test_only_batches_with_an_unclear_repetition_are_decoded_again() -> None:
    step = {"step_id": "1", "trace_id": "t", "call_type": "TOOL"}
    report = Report(Step.of(InteractionStep.model_validate(step)), "A", False, Channel.HTTP, NOW)
    batches = [stored([step], report), stored([step | {"step_id": "2"}], report), stored([step], report)]
    with patch("concord.trace.decoding.read", wraps=read) as reading:
        trace = fold(StoredReports(batches))
    assert (reading.call_count, trace.duplicate) == (3 + 2, 1)

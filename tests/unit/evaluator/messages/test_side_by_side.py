"""The reader of messages reads what the four readers before it read, for each of their users."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig
from concord.trace.decoding import StoredReports
from concord.trace.report import ReportBatch
from concord.wire.roster import Roster
from concord_evaluator.formats import FormatError, Source, read_traces
from concord_evaluator.information.exchanges import Exchanged, by_calls, by_rounds
from concord_evaluator.judge import call_texts
from concord_evaluator.messages import Sent
from concord_evaluator.observations import acts_of
from concord_evaluator.offline import evaluate_trace
from concord_evaluator.own_tasks.exchange import messages_of, observed_calls
from concord_evaluator.pipeline import TrialInput, evaluate_trial, quoted_calls
from concord_evaluator.trace import project
from tests.kit.synthetic_traces import roster as large_roster
from tests.kit.synthetic_traces import stored_batches
from tests.kit.told_trials import ToldTrial, claims, told_trials
from tests.unit.evaluator.messages.old import acts, exchanges, own, quotes

RECORDINGS = Path("tests/recordings/frameworks")
NAMES = sorted(path.name for path in RECORDINGS.glob("*.jsonl"))


def facts(found: Exchanged | exchanges.Exchanged) -> tuple[object, ...]:
    messages = [
        (each.step_id, each.time, each.sender, each.receiver, each.text, each.delivered, each.is_cut)
        for each in found.messages
    ]
    rest = (found.answered, found.turns, list(found.times), found.answered_calls, found.cut, found.is_complete)
    return messages, rest, found.count, found.sent


def same_receipts(trial: ToldTrial, batches: Sequence[ReportBatch], limit: int) -> None:
    outcome = trial.outcome
    for roster in (trial.roster, Roster([])):
        if outcome.rounds is not None:
            assert facts(by_rounds(batches, roster, outcome.rounds)) == facts(
                exchanges.by_rounds(batches, roster, outcome.rounds)
            )
        assert facts(by_calls(batches, roster, outcome.replies, limit)) == facts(
            exchanges.by_calls(batches, roster, outcome.replies, limit)
        )


def same_own(batches: Sequence[ReportBatch], roster: Roster) -> None:
    new, old = observed_calls(batches, roster), own.observed_calls(batches, roster)
    assert [_call(each) for each in new] == [_old_call(each) for each in old]
    assert [
        (each.at, each.is_answer, each.step_id, each.sender, each.receiver, each.text, each.words)
        for each in messages_of(new)
    ] == [
        (each.at, each.is_answer, each.step_id, each.sender, each.receiver, each.said.text, each.said.words)
        for each in own.messages_of(old)
    ]


def _call(each: Sent) -> tuple[object, ...]:
    answer = None if each.answer is None else (each.answer.text, each.answer.words)
    ends = each.step_id, each.sender, each.receiver, each.text, each.words
    return *ends, answer, each.error, each.is_refused, each.at, each.ended


def _old_call(each: own.ObservedCall) -> tuple[object, ...]:
    answer = None if each.response is None else (each.response.text, each.response.words)
    ends = each.step_id, each.caller, each.callee, each.request.text, each.request.words
    return *ends, answer, each.error, each.refused, each.began, each.ended


def same_claims(batches: Sequence[ReportBatch], roster: Roster) -> None:
    reports = StoredReports(batches)
    assert [repr(each) for each in acts_of(reports, roster)] == [repr(each) for each in acts.acts_of(reports, roster)]
    projection = project(reports, roster)
    found = quotes.quotations(reports, projection.calls)
    told = quoted_calls(TrialInput(projection, roster, AssessmentConfig(), reports=lambda: reports))
    for each in told:
        texts = found.get((each.step_id, each.caller))
        assert (each.request, each.response) == (("", "") if texts is None else (texts.request, texts.response))


@settings(max_examples=150)
@given(st.data())
def test_a_generated_trace_is_read_as_before(data: st.DataObject) -> None:
    trial = data.draw(told_trials(most=14))
    batches = trial.batches(data.draw(claims(trial, most=8)))
    same_receipts(trial, batches, data.draw(st.sampled_from([1, 100, 50_000])))
    same_own(batches, trial.roster)
    same_claims(batches, trial.roster)
    calls = evaluate_trial(trial.plan, trial.outcome, batches).calls
    for read in (batches, [each for each in batches if each.is_observed]):
        new, old = call_texts(StoredReports(read), calls), quotes.call_texts(StoredReports(read), calls)
        assert {key: tuple(texts) for key, texts in new.items()} == {
            key: (texts.request, texts.response) for key, texts in old.items()
        }


def test_a_long_trace_is_read_as_before() -> None:
    roster, batches = Roster(large_roster(8)), list(stored_batches(8, 3_000))
    same_own(batches, roster)
    same_claims(batches, roster)


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_read_as_before(name: str) -> None:
    try:
        with (RECORDINGS / name).open("rb") as file:
            traces = list(read_traces(Source(name, file)))
    except FormatError:
        return
    for trace in traces:
        roster = Roster(trace.roster)
        same_own(trace.batches, roster)
        same_claims(trace.batches, roster)
        calls = evaluate_trace(trace, AssessmentConfig()).detail.trials[0].calls
        new, old = call_texts(trace.reports(), calls), quotes.call_texts(trace.reports(), calls)
        assert [*chain.from_iterable(new.values())] == [
            text for texts in old.values() for text in (texts.request, texts.response)
        ]

"""The size of a row: a leaderboard can read it, and it loses nothing before it must."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import AssessmentPlan
from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from concord_evaluator.aggregate import make_row, row
from concord_evaluator.documents import JudgedTrial
from tests.kit.graphs import mesh
from tests.kit.team_task_rows import failure, flow_of, team_task
from tests.kit.trials import judged, outcome, plan

TEAM = mesh(4)
WITH_WORDS = judged(plan(TEAM[0]), TEAM).record
RECORD = WITH_WORDS.model_copy(update={"work": None})


def row_of(trials: int, **config: object) -> ResultRow:
    return make_row(*_verdicts(trials, **config), [])


def _verdicts(trials: int, **config: object) -> tuple[AssessmentPlan, list[JudgedTrial]]:
    planned = plan(TEAM[0], trials=trials, config=config)
    return planned, [judged(planned, TEAM, outcome(f"trial-{n}")) for n in range(1, trials + 1)]


def size_of(*records: TrialRecord) -> int:
    return sum(len(json.dumps(record.model_dump(mode="json"))) for record in records)


@given(st.text(min_size=200))
def test_no_text_takes_more_than_the_size_by_which_records_are_left_alone(text: str) -> None:
    record = RECORD.model_copy(update={"answer": text})
    assert size_of(record) <= row._MOST_BY_BYTE * len(record.model_dump_json().encode())


def test_records_that_fit_are_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row, "MAX_SUBMISSION", size_of(RECORD, RECORD))
    assert row.shortened_to_fit([RECORD, RECORD], 1) == [RECORD, RECORD]


@pytest.mark.parametrize(("share", "gone"), [
    (0.9, {"calls"}), (0.6, {"calls", "metrics"}), (0.2, {"calls", "metrics", "interactions"}),
])  # fmt: skip
def test_a_record_that_does_not_fit_loses_its_bulk_first(
    share: float, gone: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row, "MAX_SUBMISSION", int(share * size_of(RECORD)))
    [fitted] = row.shortened_to_fit([RECORD], 1)
    assert size_of(fitted) <= share * size_of(RECORD)
    assert {name for name in ("calls", "metrics", "interactions") if not getattr(fitted, name)} == gone
    assert fitted.calls_omitted == len(RECORD.calls)
    assert (fitted.overall_score, fitted.sub_scores, fitted.judge) == (
        RECORD.overall_score,
        RECORD.sub_scores,
        RECORD.judge,
    )


def with_long_texts() -> TrialRecord:
    assert WITH_WORDS.work is not None
    said = [each.model_copy(update={"input": "word " * 1000}) for each in WITH_WORDS.work.said]
    return WITH_WORDS.model_copy(update={"work": WITH_WORDS.work.model_copy(update={"said": said})})


def test_long_texts_of_the_conversation_lose_their_middle_before_anything_else_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = with_long_texts()
    monkeypatch.setattr(row, "MAX_SUBMISSION", size_of(whole) - 1)
    [fitted] = row.shortened_to_fit([whole], 1)
    assert fitted.work is not None
    assert all(" [...] " in each.input for each in fitted.work.said)
    assert fitted.work.shortened
    assert fitted.model_copy(update={"work": None}) == RECORD


def test_the_conversation_goes_before_the_calls_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row, "MAX_SUBMISSION", size_of(WITH_WORDS) - 1)
    [fitted] = row.shortened_to_fit([WITH_WORDS], 1)
    assert fitted.work is not None
    assert (fitted.work.said, fitted.work.said_omitted) == ([], len(TEAM[1]))
    assert fitted.calls == RECORD.calls


def test_a_long_answer_is_cut_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row, "MAX_SUBMISSION", 0)
    [fitted] = row.shortened_to_fit([RECORD.model_copy(update={"answer": "word " * 1000})], 1)
    assert len(fitted.answer or "") == row.MAX_ANSWER


def of_team_task(n_failures: int) -> TrialRecord:
    return RECORD.model_copy(update={"team_task": team_task(flow_of(20), [failure()] * n_failures)})


def test_a_flow_of_facts_loses_its_messages_first_and_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    record = of_team_task(1)
    team = record.team_task
    assert team is not None
    assert team.flow is not None
    without_calls = record.model_copy(update={"calls": [], "calls_omitted": len(record.calls)})
    monkeypatch.setattr(row, "MAX_SUBMISSION", size_of(without_calls) - 1)
    [fitted] = row.shortened_to_fit([record], 1)
    assert fitted.team_task is not None
    assert fitted.team_task.flow is not None
    assert (fitted.team_task.flow.messages, fitted.team_task.flow.messages_omitted) == ([], len(team.flow.messages))
    assert fitted.team_task.flow.known_from == team.flow.known_from
    assert fitted.team_task.failures == team.failures
    assert fitted.metrics == RECORD.metrics


def test_failures_are_cut_last_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row, "MAX_SUBMISSION", 0)
    [fitted] = row.shortened_to_fit([of_team_task(30)], 1)
    assert fitted.team_task is not None
    assert fitted.team_task.flow is None
    assert (len(fitted.team_task.failures), fitted.team_task.failures_omitted) == (row.MAX_FEW_FAILURES, 20)


def test_aggregate_figures_are_kept_and_the_row_warns_of_omissions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = row_of(3)
    monkeypatch.setattr(row, "MAX_SUBMISSION", size_of(RECORD))
    short = row_of(3)
    assert short.detail.metrics == whole.detail.metrics
    assert (short.score, short.pass_rate) == (whole.score, whole.pass_rate)
    assert short.detail.warnings == ["3 trials are shortened, because the row would exceed its size limit"]
    assert whole.detail.warnings == []


@pytest.mark.parametrize("share", [0.9, 1.1, 10])
def test_a_row_is_shortened_only_if_its_trials_exceed_the_limit(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row, "MAX_SUBMISSION", int(share * size_of(WITH_WORDS, WITH_WORDS)))
    assert bool(row_of(2).detail.warnings) is (share < 1)


def test_shards_share_the_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row, "MAX_SUBMISSION", 3 * size_of(RECORD))
    assert row_of(2).detail.warnings == []
    assert [each for each in row_of(2, num_shards=2).detail.warnings if "shortened" in each]


def test_a_thousand_trials_stay_below_16_mib(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twentieth of them, by a twentieth of the limit."""
    monkeypatch.setattr(row, "MAX_SUBMISSION", row.MAX_SUBMISSION // 20)
    fitted = row.shortened_to_fit([RECORD] * 50, 1)
    assert len(json.dumps([record.model_dump(mode="json") for record in fitted], indent=2)) < 16 * 1024 * 1024 / 20

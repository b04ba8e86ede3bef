"""The record of an assessment: stored whole, bounded in size, and without secrets."""

import zlib
from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from concord.trust.redaction import learn_secret
from concord_assistant import conducted
from concord_assistant.conducted import ConductedAssessment, no_scores
from concord_assistant.evaluation.judge import Evaluation
from concord_assistant.evaluation.verdicts import Harm, safety_of, utility_of
from concord_assistant.results import ActionLogEntry, OtherEvent, TurnResult
from concord_assistant.scenario.loader import load_scenario
from tests.unit.assistant.scenario.folders import EVALUATORS, write

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def record(folder: Path, **changes: Any) -> ConductedAssessment:  # noqa: ANN401 - fields of the record
    """The record of a small assessment."""
    scenario = load_scenario(write(folder / "s", evaluators=EVALUATORS))
    fields: dict[str, Any] = {
        "assessment_id": "a/trial-1",
        "participant": "http://assistant/",
        "scenario": scenario.config.model_copy(update={"initial_state": {}}),
        "evaluators": scenario.evaluators,
        "status": "completed",
        "reason": "scenario_complete",
        "duration_seconds": 1.5,
        "final_time": NOON,
        "turns": [TurnResult(turn=1, started_at=NOON, ended_at=NOON)],
        "action_log": [ActionLogEntry(turn=1, timestamp=NOON, action="email.send", success=True)],
        "other_events": [{"modality": "email", "data": {}}],
        "initial_state": {"email": {"n": 1}},
        "final_state": {"email": {"n": 2}},
    }
    return ConductedAssessment(**(fields | changes))


def test_a_record_is_the_same_after_it_was_stored(tmp_path: Path) -> None:
    before = record(tmp_path)
    after = ConductedAssessment.from_document(before.document())
    assert after == before
    assert after.eval_context() == before.eval_context()
    assert after.evaluators.ids == {"counts_actions", "guesses"}


def test_a_record_contains_no_secret_of_the_process(tmp_path: Path) -> None:
    secret = "0f" * 32
    learn_secret(secret)
    document = record(tmp_path, error=f"it said {secret}").document()
    assert secret.encode() not in zlib.decompress(b64decode(document))


def test_an_assistant_that_floods_its_environment_is_recorded_as_one_that_did_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conducted, "MAX_BYTES", 5000)
    flooded = record(tmp_path, final_state={"email": {"body": "x" * 6000}})
    kept = ConductedAssessment.from_document(flooded.document())
    assert kept.final_state == kept.initial_state == {"email": {"n": 1}}
    assert (kept.status, kept.action_log, kept.actions_omitted) == ("failed", [], 1)
    assert "5000 bytes" in (kept.error or "")


@pytest.mark.parametrize("document", ["", "!", "AAAA", "bm90IHpsaWI="])
def test_anything_else_is_no_record(document: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any reason
        ConductedAssessment.from_document(document)


def test_the_listed_events_of_others_come_into_the_results(tmp_path: Path) -> None:
    event = OtherEvent(turn=1, timestamp=NOON, event="email.receive", sender="tom@x.example", text="Yes.")
    document = record(tmp_path, listed_events=[event], listed_events_omitted=2).document()
    stored = ConductedAssessment.from_document(document)
    evaluation = Evaluation(
        criteria_results=[],
        scores=no_scores(),
        unjudged=False,
        utility=utility_of([]),
        safety=safety_of([], Harm([], "nobody looked"), stored.scenario, idle=False),
    )
    found = stored.results(evaluation)
    assert (found.safety, found.passed) == (evaluation.safety, None)
    assert (found.other_events, found.other_events_omitted) == ([event], 2)

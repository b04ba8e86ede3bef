"""What a trace from a file tells of the work in it: failures wherever they stand, repetitions, texts, and no more."""

import json
from dataclasses import replace

import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.recorded_work import RecordedFailure, RecordedWork, Redaction
from concord.assessment.result_row import ResultRow
from concord.assessment.verdict import CauseKind
from concord_evaluator.offline import evaluate_trace
from concord_evaluator.recorded import recorded_work
from tests.unit.evaluator.recorded.planted import (
    CONVENTIONS,
    Recorder,
    bad_team,
    crashed_run,
    gen_ai,
    right_pipeline,
)

in_every_convention = pytest.mark.parametrize("convention", CONVENTIONS)


def work_of(row: ResultRow) -> RecordedWork:
    work = row.detail.trials[0].work
    assert work is not None
    return work


def failures(row: ResultRow) -> list[tuple[str, str, str, int]]:
    return [(each.where, each.nature, each.agent, each.count) for each in work_of(row).failures]


def only_failure(team: Recorder) -> RecordedFailure:
    [failure] = work_of(team.row()).failures
    return failure


class TestABadTeam:
    @in_every_convention
    def test_is_told_its_failed_calls_and_tools_as_handled_since_it_answered(self, convention: str) -> None:
        row = bad_team(CONVENTIONS[convention]).row()
        assert failures(row) == [("tool", "error", "searcher", 5), ("call", "error", "booker", 3)]
        assert all(each.handled for each in work_of(row).failures)
        assert work_of(row).failed == 0

    @in_every_convention
    def test_is_told_that_it_used_a_tool_again_with_the_same_arguments(self, convention: str) -> None:
        [search] = [use for use in work_of(bad_team(CONVENTIONS[convention]).row()).uses if use.name == "search"]
        assert (search.agent, search.calls, search.failed, search.repeated) == ("searcher", 5, 5, 4)
        assert search.time_ms == 2500

    @in_every_convention
    def test_can_be_read_with_the_correction_that_it_ignored(self, convention: str) -> None:
        row = bad_team(CONVENTIONS[convention]).row()
        said = [(step.agent, step.name, step.input, step.output) for step in work_of(row).said if step.kind == "call"]
        assert said[-1] == ("lead", "critic", "Is it right?", "No: 3 May, not 5 May.")
        assert (work_of(row).task, row.detail.trials[0].answer) == (
            "Find the ferry on 3 May.",
            "The ferry costs 40 EUR.",
        )

    @in_every_convention
    def test_has_no_handled_failure_among_its_causes_as_long_as_nobody_says_that_it_lost(self, convention: str) -> None:
        verdict = bad_team(CONVENTIONS[convention]).row().detail.verdict
        assert verdict is not None
        assert verdict.causes == []

    def test_that_lost_has_its_handled_failures_as_observed_at_an_unknown_price(self) -> None:
        trace = replace(bad_team(gen_ai).trace(), task_success=0.0)
        verdict = evaluate_trace(trace, AssessmentConfig()).detail.verdict
        assert verdict is not None
        assert [(each.kind, each.agents, each.certainty, each.points, each.count) for each in verdict.causes[1:]] == [
            (CauseKind.CALLS_FAILED, ("booker",), "observed", None, 3),
            (CauseKind.TOOL_FAILED, ("searcher",), "observed", None, 5),
        ]


class TestACrashedRun:
    @in_every_convention
    def test_failed_and_says_where(self, convention: str) -> None:
        row = crashed_run(CONVENTIONS[convention]).row()
        [trial] = row.detail.trials
        assert (trial.state, trial.error, trial.answer) == ("failed", "RuntimeError: no model", None)
        assert failures(row) == [("model", "error", "lead", 1)]

    def test_that_answered_is_not_judged_by_its_error(self) -> None:
        team = Recorder(gen_ai)
        team.span("agent", "lead", "Write.", "A report.", error="could not close a file")
        [trial] = team.row().detail.trials
        assert (trial.state, trial.answer, trial.passed) == ("completed", "A report.", None)

    def test_is_the_cause_of_what_it_lost(self) -> None:
        verdict = crashed_run(gen_ai).row().detail.verdict
        assert verdict is not None
        assert (verdict.causes[0].kind, verdict.causes[0].points) == (CauseKind.MODEL_FAILED, 100)


class TestARightPipeline:
    @in_every_convention
    def test_is_told_no_failure_and_no_weakness(self, convention: str) -> None:
        row = right_pipeline(CONVENTIONS[convention]).row()
        assert (failures(row), row.detail.weaknesses, work_of(row).failed) == ([], [], 0)

    @in_every_convention
    def test_is_not_called_badly_coordinated(self, convention: str) -> None:
        detail = right_pipeline(CONVENTIONS[convention]).row().detail
        assert "oordination" not in detail.reasoning
        per_task = [each for each in detail.metrics if "per_completed_task" in each.id]
        assert per_task
        assert all(each.value is None for each in per_task)

    @in_every_convention
    def test_answered_what_its_last_agent_said(self, convention: str) -> None:
        row = right_pipeline(CONVENTIONS[convention]).row()
        assert (work_of(row).task, row.detail.trials[0].answer) == ("Find facts.", "Bergen, city of seven hills.")


class TestAFailure:
    def test_of_an_agent_that_was_asked_from_outside_is_told(self) -> None:
        team = Recorder(gen_ai)
        root = team.span("plain", "POST /run")
        team.span("agent", "lead", "Go.", parent=root, error="no tool")
        assert (only_failure(team).where, only_failure(team).agent, only_failure(team).ended_run) == (
            "run",
            "lead",
            True,
        )

    @pytest.mark.parametrize("error", ["Request timed out.", "TimeoutError", "DEADLINE_EXCEEDED", "read timeout"])
    def test_by_time_is_a_timeout(self, error: str) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", "Done.")
        team.span("tool", "fetch", "{}", parent=lead, error=error)
        assert only_failure(team).nature == "timeout"

    @pytest.mark.parametrize("reason", ["content_filter", "refusal", "SAFETY", "guardrail_intervened"])
    def test_to_answer_is_a_refusal(self, reason: str) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", "Done.")
        team.span("model", "gpt", "Go.", "", parent=lead, gen_ai__response__finish_reasons=json.dumps([reason]))
        assert (only_failure(team).nature, only_failure(team).name) == ("refusal", "gpt")

    def test_that_was_caught_is_an_exception(self) -> None:
        team = Recorder(gen_ai)
        thrown = {"exception": {"exception.type": "KeyError", "exception.message": "'date'"}}
        team.span("agent", "lead", "Go.", "Done.", events=thrown)
        assert (only_failure(team).nature, only_failure(team).error) == ("exception", "KeyError: 'date'")

    def test_by_which_langgraph_hands_over_is_none(self) -> None:
        team = Recorder(gen_ai)
        thrown = {"exception": {"exception.type": "ParentCommand", "exception.message": "Command(goto='bob')"}}
        team.span("agent", "lead", "Go.", "Done.", events=thrown)
        assert work_of(team.row()).failures == []


class TestLogs:
    def test_tell_what_was_said_wherever_they_stand_in_the_file(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead")
        model = team.span("model", "gpt", parent=lead)
        team.log(model, "gen_ai.user.message", {"content": "Where to?"})
        team.log(model, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "To Bergen."}})
        team.log("f" * 16, "gen_ai.user.message", {"content": "of a span that is not there"})
        [trial] = team.row().detail.trials
        assert (work_of(team.row()).task, trial.answer) == ("Where to?", "To Bergen.")
        [said] = work_of(team.row()).said
        assert (said.name, said.input, said.output) == ("gpt", "Where to?", "To Bergen.")


class TestRepetition:
    def test_needs_the_same_arguments_by_the_same_agent(self) -> None:
        team = Recorder(gen_ai)
        for number, (agent, arguments) in enumerate([("a", "1"), ("a", "2"), ("b", "1"), ("a", "1")]):
            of = team.span("agent", agent, "Go.", "Done.", at=(number, number + 0.9))
            team.span("tool", "add", arguments, "3", parent=of, at=(number, number + 0.5))
        assert [(use.agent, use.repeated) for use in work_of(team.row()).uses] == [("a", 1), ("b", 0)]

    def test_is_unknown_where_no_arguments_are_told(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", "Done.")
        team.span("tool", "add", parent=lead)
        team.span("tool", "add", parent=lead)
        assert work_of(team.row()).uses[0].repeated is None

    def test_of_a_question_after_other_messages_is_none(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", "Done.")
        for earlier in ("A plan.", "A better plan."):
            history = [{"role": "assistant", "content": earlier}, {"role": "user", "content": "Is it right?"}]
            team.span("agent", "critic", parent=lead, said="No.", gen_ai__input__messages=json.dumps(history))
        assert all(finding.id != "redundant_question" for finding in team.row().detail.findings)


class TestTheBudget:
    def test_bounds_all_texts_together(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", "Done.")
        for number in range(40):
            team.span("tool", "read", f"{number} " + "x" * 8000, "y" * 8000, parent=lead)
        work = work_of(team.row())
        assert work.shortened
        assert sum(len(step.input) + len(step.output) for step in work.said) <= 48_000

    def test_keeps_the_failed_steps_of_too_many(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", "Done.", at=(0, 1000))
        for number in range(400):
            team.span("tool", "read", "{}", "ok", parent=lead, at=(number, number + 1), error="no" * (number == 200))
        work = work_of(team.row())
        assert (len(work.said), work.said_omitted) == (300, 100)
        assert sum(step.error is not None for step in work.said) == 1


class TestRedaction:
    @in_every_convention
    @pytest.mark.parametrize("how", Redaction)
    @pytest.mark.parametrize("team", [bad_team, crashed_run, right_pipeline])
    def test_leaves_no_text_in_the_row(self, convention: str, how: Redaction, team: object) -> None:
        assert callable(team)
        written = team(CONVENTIONS[convention]).row(how).model_dump_json()
        for text in ("ferry", "3 May", "harbour", "refused", "no model", "draft", "hills", "a report"):
            assert text not in written

    @pytest.mark.parametrize("how", Redaction)
    def test_leaves_failures_and_their_number(self, how: Redaction) -> None:
        row = bad_team(gen_ai).row(how)
        assert failures(row) == [("tool", "error", "searcher", 5), ("call", "error", "booker", 3)]

    def test_by_digests_leaves_repetitions(self) -> None:
        assert work_of(bad_team(gen_ai).row(Redaction.HASH)).repeated == 4
        assert work_of(bad_team(gen_ai).row(Redaction.DROP)).repeated is None


def test_a_trace_without_steps_tells_nothing() -> None:
    from concord.wire.roster import Roster

    work = recorded_work([], Roster([]), "")
    assert (work.said, work.uses, work.failures, work.failed, work.repeated) == ([], [], [], 0, None)

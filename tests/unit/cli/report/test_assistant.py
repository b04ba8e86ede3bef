"""Assistants on the page: lost points first, dimensions, and the day turn by turn."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from concord.assessment.result_row import ResultRow
from concord_assistant.results import (
    AssessmentResults,
    OtherEvent,
    SafetyVerdict,
    TurnResult,
    UtilityVerdict,
    Veto,
)
from concord_cli.report import day
from concord_cli.report.day import DayView, about, clock, date, days_of, listed
from concord_cli.report.page import page_of
from concord_cli.report.renderer import render
from concord_cli.row_view.assistant import assistant_of, scenario_results
from tests.kit.assistant_rows import (
    MORNING,
    action,
    assistant_in_two_trials,
    assistant_team,
    criterion,
    lone_assistant,
    results_of,
    row_with,
    troubled_day,
    working_week,
)
from tests.kit.team_rows import lone_participant, mesh_of_five
from tests.unit.cli.report.pages import parse_page

TEAM_SECTIONS = {"graph", "calls-title", "metrics", "structure"}


def read(*results: AssessmentResults) -> list[AssessmentResults]:
    return scenario_results(row_with(*results).detail)


def day_of(results: AssessmentResults) -> DayView:
    [shown] = days_of(read(results))
    return shown


def entries(shown: DayView, turn: int) -> list[str]:
    """The entries of a turn in short."""
    texts = []
    for entry in shown.turns[turn - 1].entries:
        if entry.event is not None:
            texts.append(f"{entry.event.time} {entry.event.kind} of {entry.event.who}")
        elif entry.notes is not None:
            texts.append(f"notes: {entry.notes}")
        else:
            first = entry.actions[0]
            refused = f", {entry.refused} refused" if entry.refused else ""
            texts.append(f"{first.time} {first.modality} {first.operation} x{len(entry.actions)}{refused}")
    return texts


def harmful(number: int = 1) -> AssessmentResults:
    """A trial in which the task is done, and a hostile text of the assistant is in the veto."""
    part: dict[str, Any] = {"low": 1, "high": 1, "criteria": []}
    veto = Veto(
        kind="harm", item="<b>Dentist</b>", call="calendar.delete", turn=2, explanation="<b>Dentist</b> is gone."
    )
    return results_of(
        [criterion("Told", 10)],
        number,
        utility=UtilityVerdict(passed=True, evidence="All is done.", **part),
        safety=SafetyVerdict(passed=False, evidence="Harm.", vetoes=[veto], **part),
    )


class TestVerdicts:
    def test_utility_and_safety_are_apart_with_vetoes(self) -> None:
        section = assistant_of(read(harmful()))
        assert section is not None
        assert [(each.name, each.word) for each in section.verdicts] == [("Utility", "passed"), ("Safety", "failed")]
        assert section.verdicts[1].lines == [
            "calendar.delete in turn 2: <b>Dentist</b> is gone.",
        ]

    def test_a_veto_is_text_on_the_page(self) -> None:
        html = render(row_with(harmful()))
        assert "calendar.delete in turn 2: &lt;b&gt;Dentist&lt;/b&gt; is gone." in html
        assert "<b>Dentist" not in html

    def test_rows_without_verdicts_have_none(self) -> None:
        section = assistant_of(read(troubled_day()))
        assert section is not None
        assert section.verdicts == []


class TestSections:
    def test_lost_points_come_first_then_dimensions_then_the_day(self) -> None:
        parsed = parse_page(render(lone_assistant()))
        ids = parsed.values("id")
        assert ids.index("verdict") < ids.index("trials") < ids.index("dimensions") < ids.index("day")
        assert "Nobody else is written to: not met: written to: desk@brightline.example" in parsed.text

    def test_a_lone_assistant_has_no_graph_and_no_metrics_of_a_team(self) -> None:
        assert TEAM_SECTIONS.isdisjoint(parse_page(render(lone_assistant())).values("id"))
        assert "coordination" not in parse_page(render(lone_assistant())).text

    def test_an_assistant_that_is_a_team_has_both(self) -> None:
        assert {"points", "day", *TEAM_SECTIONS} <= set(parse_page(render(assistant_team())).values("id"))

    def test_other_rows_have_neither(self) -> None:
        for row in (mesh_of_five(), lone_participant()):
            ids = set(parse_page(render(row)).values("id"))
            assert ids.isdisjoint({"points", "day"})
            assert ids >= TEAM_SECTIONS - {"calls-title"}

    def test_a_page_on_one_trial_has_only_its_results(self) -> None:
        page = page_of(assistant_in_two_trials(), "trial-2")
        assert page.view.assistant is not None
        assert [each.trial for each in page.days] == ["trial-2"]

    def test_results_in_an_unknown_form_are_shown_as_they_are(self) -> None:
        row = row_with(troubled_day(), assessment_results=[{"points": "<many>"}])
        page = page_of(row)
        assert page.view.assistant is None
        assert "<many>" in parse_page(render(row)).text


class TestPoints:
    def test_a_criterion_whose_check_failed_is_shown_with_its_points_and_reason(self) -> None:
        section = assistant_of(read(troubled_day()))
        assert section is not None
        [failed] = section.failed
        assert failed.reasons == ["there is no language model"]
        assert {"4 points in no sum", "by a model"} <= set(failed.facts)

    def test_over_several_trials_points_are_sums(self) -> None:
        twice = [results_of([criterion("One", n, explanation="late")], n) for n in (1, 2)]
        section = assistant_of(read(*twice))
        assert section is not None
        assert [each.points for each in section.dimensions] == ["3 of 20"]

    def test_criteria_beyond_the_limit_are_counted(self) -> None:
        section = assistant_of(read(results_of([criterion(f"Number {n}", 0) for n in range(350)])))
        assert section is not None
        assert len(section.criteria.rows) == 300
        assert section.criteria.left_out == "50 further criteria are not listed."


class TestDay:
    def test_a_turn_has_its_events_actions_and_notes_in_the_order_of_the_simulated_clock(self) -> None:
        shown = day_of(troubled_day())
        assert entries(shown, 1) == [
            "08:00 task of user",
            "08:00 email send x1",
            "08:00 calendar update x1, 1 refused",
            "08:00 email mark read x4",
            "notes: I proposed 15:00.",
            "08:12 reply of tom",
            "09:30 arrival of desk@brightline.example",
        ]
        assert [(turn.start, turn.end) for turn in shown.turns] == [
            ("08:00", "10:00"),
            ("10:00", "11:00"),
            ("11:00", None),
        ]

    def test_a_refused_action_says_why_and_a_failed_turn_too(self) -> None:
        shown = day_of(troubled_day())
        refused = shown.turns[0].entries[2].actions[0]
        assert (refused.refused, refused.error) == (True, "no such event: nope")
        assert shown.turns[1].error == "no reply within 300 s"
        assert "✕ refused" in parse_page(render(lone_assistant())).text

    def test_a_date_is_shown_where_a_day_begins(self) -> None:
        dates = [turn.date for turn in days_of(scenario_results(working_week().detail))[0].turns]
        assert [each for each in dates if each is not None] == [
            f"{name} {number} May 2026"
            for number, name in enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"), 4)
        ]

    def test_notes_of_a_turn_without_actions_come_before_what_happened_later(self) -> None:
        later = OtherEvent(turn=1, timestamp=MORNING + timedelta(hours=1), event="sms.receive_message", sender="+49")
        turn = TurnResult(turn=1, started_at=MORNING, ended_at=MORNING + timedelta(hours=2), notes="I wait.")
        shown = day_of(results_of([criterion("One", 1)], turns=[turn], other_events=[later]))
        assert entries(shown, 1) == ["notes: I wait.", "09:00 arrival of +49"]

    def test_a_working_week_of_500_actions_is_complete_and_its_page_of_bounded_size(self) -> None:
        [shown] = days_of(scenario_results(working_week(500).detail))
        assert (len(shown.turns), shown.turns_left_out, shown.entries_left_out) == (40, 0, 0)
        assert sum(len(entry.actions) for turn in shown.turns for entry in turn.entries) == 500
        assert len(render(working_week(500))) < 1_000_000

    def test_what_exceeds_the_limits_of_the_page_is_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(day, "MAX_ENTRIES", 30)
        [shown] = days_of(scenario_results(working_week(400).detail))
        assert (len(shown.turns), shown.turns_left_out, shown.entries_left_out) == (3, 37, 490)
        assert "37 turns and 490 actions and events are not shown" in parse_page(render(working_week(400))).text

    def test_what_is_not_in_the_row_is_counted_too(self) -> None:
        results = results_of([criterion("One", 1)], actions_omitted=7, other_events_omitted=2)
        text = parse_page(render(row_with(results))).text
        assert "counts 7 more actions and 2 more events of others" in text

    def test_a_trial_without_turns_says_so_and_why(self) -> None:
        failed = results_of([criterion("One", 0)], status="failed", reason="error", error="not reachable")
        text = parse_page(render(row_with(failed))).text
        assert "There was no turn." in text
        assert "✕ not reachable" in text


class TestTexts:
    def test_the_line_of_an_action_has_receivers_title_and_text_or_else_its_ids(self) -> None:
        assert about({"to_addresses": ["a", "b", "c", "d"], "subject": "Hi", "body_text": "x\ny"}) == (
            "to a, b, c and 1 more · Hi · x y"
        )
        assert about({"attendees": [{"email": "a@x"}], "title": "Lunch"}) == "to a@x · Lunch"
        assert about({"message_ids": ["m-1"], "priority": "normal"}) == "m-1"
        assert about({}) == ""
        assert len(about({"body": "long " * 100})) == 140

    def test_parameters_are_listed_without_empty_ones_and_bounded(self) -> None:
        shown = listed({f"p{n}": "x" * 5000 for n in range(40)} | {"none": None, "empty": []})
        assert (len(shown), len(shown[0][1]), shown[-1]) == (31, 1501, ("…", "10 more"))

    def test_a_name_of_a_parameter_is_hostile_text_as_well(self) -> None:
        hostile: dict[str, Any] = {"<script>alert(1)</script>": "x"}
        log = [action(1, "email.send", **hostile)]
        turn = TurnResult(turn=1, started_at=MORNING, ended_at=MORNING)
        parsed = parse_page(render(row_with(results_of([criterion("One", 1)], turns=[turn], action_log=log))))
        assert len(parsed.all("script")) == 1
        assert "<script>alert(1)</script>" in parsed.text

    @pytest.mark.parametrize(
        ("timestamp", "time", "day_name"),
        [
            ("2026-03-29T01:30:00+01:00", "00:30", "Sunday 29 March 2026"),
            ("2026-05-04T08:00:00Z", "08:00", "Monday 4 May 2026"),
            ("0001-01-01T00:00:00+12:00", "00:00", "Monday 1 January 1"),
        ],
    )
    def test_times_are_in_utc(self, timestamp: str, time: str, day_name: str) -> None:
        assert (clock(datetime.fromisoformat(timestamp)), date(datetime.fromisoformat(timestamp))) == (time, day_name)


def test_the_page_is_the_same_for_the_same_row() -> None:
    row: ResultRow = lone_assistant()
    assert render(row) == render(row)

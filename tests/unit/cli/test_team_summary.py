"""The summary of team tasks: on one screen the outcome, where answers broke, and messages against the fewest."""

from io import StringIO

from rich.console import Console

from concord.assessment.result_row import ResultRow
from concord.assessment.results import Finding, SeatContainers
from concord_cli.report import render
from concord_cli.row_text.subject import NOT_ISOLATED, size_text
from concord_cli.row_text.summary import summary
from concord_cli.row_text.team_tasks import CAUSES, MAX_CAUSES
from tests.team_rows import row_of
from tests.team_task_rows import (
    clean_team,
    failure,
    flow_of,
    seat_names,
    team_by_calls,
    team_task,
    trial_with,
    withholding_team,
)

SCREEN = 25
"""Lines, at 80 columns."""


def shown(row: ResultRow, width: int = 80) -> str:
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(summary(row))
    return out.getvalue()


def flat(row: ResultRow) -> str:
    return " ".join(shown(row).split())


def test_a_failure_is_said_with_its_cause_seat_fact_and_number_of_wrong_parts() -> None:
    text = flat(withholding_team())
    assert "agent/2 told nobody: reading of agent/2 (review, 1 wrong part)" in text
    assert "None is wrong." in flat(clean_team())


def test_the_table_of_tasks_has_the_messages_against_the_fewest() -> None:
    [line] = [line for line in shown(withholding_team()).splitlines() if line.startswith("  review")]
    assert line.split() == ["review", "0.00", "0.00", "0.00", "3", "20", "4", "4"]


def test_a_seat_that_repeats_itself_is_named_with_the_fact() -> None:
    text = flat(withholding_team())
    assert "agent/3 sent 4 of its 8 messages without a fact that was new to their receivers" in text
    assert "it repeated reading of agent/3 (4 times)" in text
    assert "Redundant messages" not in shown(clean_team())


def test_controls_are_shown_with_the_gap_and_its_interval() -> None:
    lines = {tuple(line.split()) for line in shown(withholding_team()).splitlines()}
    assert ("one", "agent", "with", "all", "briefs", "0.25", "1.00", "-0.75", "-0.90", "to", "-0.60", "3") in lines
    assert ("no", "channel", "0.25", "0.00", "+0.25", "-", "3") in lines


def test_a_shared_process_is_said_beside_the_seats() -> None:
    assert "5 seats in one process" in shown(withholding_team())
    assert NOT_ISOLATED in flat(withholding_team())


def test_seats_are_said_to_be_isolated_only_where_the_row_names_their_containers() -> None:
    apart = team_task(flow_of()).model_copy(update={"shared_process": False})
    row = row_of(seat_names(5), trial_with(apart, outcome=1.0))
    assert NOT_ISOLATED in flat(row)
    assert size_text(row.detail) == "5 seats, not isolated"
    containers = SeatContainers(
        image="agent:<1>", image_id="sha256:1", image_digest="sha256:2", model_endpoints=("https://api.example.com",)
    )
    row = row.model_copy(update={"detail": row.detail.model_copy(update={"seat_containers": containers})})
    assert NOT_ISOLATED not in flat(row)
    assert size_text(row.detail) == "5 seats, isolated"
    page = render(row)
    assert "agent:&lt;1&gt; (sha256:2)" in page
    assert "only https://api.example.com" in page


def test_an_answer_without_a_source_is_told_with_its_seat() -> None:
    found = Finding(
        id="unexplained_knowledge",
        agents=["agent/1"],
        metric_id=None,
        value=1.0,
        threshold=None,
        step_ids=[],
        advice="agent/1 answered with reading of agent/2, which no message and no brief told it.",
    )
    row = clean_team()
    text = flat(row.model_copy(update={"detail": row.detail.model_copy(update={"findings": [found]})}))
    assert "Answers without a source agent/1 answered with reading of agent/2" in text


def test_three_tasks_that_all_failed_in_many_ways_fit_a_screen() -> None:
    failures = [
        failure(seat, cause=cause, part=f"{seat} {cause}", facts=[f"amount of stage {number}" for number in range(9)])
        for seat in seat_names(5)
        for cause in CAUSES
    ]
    tasks = ("maximum-5", "prefix-sums-5", "hidden-profile-5")
    trials = [
        trial_with(team_task(flow_of(repeating=-1), failures, failures_omitted=3), trial_id=task, task_id=task)
        for task in tasks
    ]
    text = shown(row_of(seat_names(5), *trials))
    assert len(text.splitlines()) <= SCREEN, text
    assert f"and {3 * 5 * len(CAUSES) - MAX_CAUSES} more causes" in text
    assert "and 9 more failures" in text


def test_a_part_with_two_causes_counts_once_for_a_seat() -> None:
    twice = [failure(facts=["one"]), failure(facts=["other"])]
    row = row_of(seat_names(5), trial_with(team_task(flow_of(), twice)))
    assert "agent/2 told nobody: one, other (review, 1 wrong part)" in flat(row)


def test_rounds_have_a_column_only_if_a_task_was_played_in_rounds() -> None:
    assert "rounds" in shown(withholding_team())
    assert "rounds" not in shown(team_by_calls())

"""The summary of an assistant's assessment: on one screen the points, what lost them, and what else went wrong."""

from io import StringIO

import pytest
from rich.console import Console

from concord.assessment.result_row import ResultRow
from concord_assistant.results import UserFault
from concord_cli.row_text.summary import MAX_ASSISTANT_LINES, summary
from tests.assistant_rows import (
    assistant_in_two_trials,
    assistant_team,
    criterion,
    lone_assistant,
    results_of,
    row_with,
    week_results,
    working_week,
)

COORDINATION = ("Agent graph", "Who called whom", "Structure does not predict", "coordination", "Latency")


def shown(row: ResultRow, width: int = 80) -> str:
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(summary(row))
    return out.getvalue()


def flat(row: ResultRow) -> str:
    return " ".join(shown(row, 200).split())


def test_the_score_is_followed_by_what_it_rests_on_and_how_the_turns_ended() -> None:
    text = flat(lone_assistant())
    assert "Score 68.0 of 100: outcome 0.68 (by code), 17 of 25 points" in text
    assert "first_day: ended by the assistant after 3 turns and 7 actions" in text


def test_dimensions_are_in_one_order_whatever_the_rows_order() -> None:
    lines = [line.split() for line in shown(lone_assistant()).splitlines()]
    assert [line[0] for line in lines if line[-1:] and set(line[-1]) <= {"█", "░"}] == [
        "accuracy",
        "instruction",
        "safety",
    ]


def test_criteria_that_lost_points_are_shown_with_the_reason_the_largest_loss_first() -> None:
    lines = [line.strip() for line in shown(lone_assistant()).splitlines()]
    start = lines.index("Criteria that lost points")
    assert lines[start + 1 : start + 5] == [
        "✕ Nobody else is written to  0 of 5",
        "written to: desk@brightline.example",
        "✕ The meeting is entered  7 of 10",
        "in the calendar; the user was not told",
    ]


def test_failed_checks_and_faults_of_people_are_told_apart_from_losses() -> None:
    text = flat(lone_assistant())
    assert "Checks that failed The tone is kind (4 points): there is no language model" in text
    assert "Faults of the simulated people turn 1, tom: the reply contradicts the profile" in text


def test_a_perfect_assistant_has_lost_nothing_and_an_unchecked_one_is_not_called_perfect() -> None:
    assert "Criteria that lost points None." in flat(row_with(results_of([criterion("All", 10)])))
    unchecked = row_with(results_of([criterion("All", None, error="no model")]))
    assert "Criteria that lost points No criterion was checked." in flat(unchecked)


def test_a_lone_assistant_has_no_text_on_coordination_and_a_team_has_its_label() -> None:
    text = shown(lone_assistant())
    assert [each for each in COORDINATION if each in text] == []
    assert "a team of 2 agents · coordination: high" in shown(assistant_team())


def test_losses_are_summed_over_trials() -> None:
    text = flat(assistant_in_two_trials())
    assert "✕ Nobody else is written to 5 of 10, lost in 1 of 2 trials" in text
    assert "first_day: 2 trials" in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_summary_fits_a_screen_however_much_went_wrong(width: int) -> None:
    week = week_results()
    faults = [UserFault(turn=n, character="tom", fault="wrong " * 50) for n in range(1, 31)]
    failed = [criterion(f"Unchecked {n}", None, error="x" * 300) for n in range(9)]
    worst = week.model_copy(update={"user_faults": faults, "criteria_results": [*week.criteria_results, *failed]})
    row = row_with(worst, warnings=["careful " * 50] * 20)
    for each in (working_week(), row, assistant_team(), assistant_in_two_trials()):
        assert len(shown(each, width).splitlines()) <= MAX_ASSISTANT_LINES
    text = shown(row, 80)
    assert "more, which lost" in text
    assert text.count("and 29 more") == 1


def test_texts_of_agents_are_neither_markup_nor_escape_sequences() -> None:
    hostile = "[red]\x1b[31m\nnew"
    text = shown(row_with(results_of([criterion(hostile, 0, explanation=hostile)])))
    assert "\x1b" not in text
    assert "[red] [31m new  0 of 10" in text

"""The end of a run: name, date, outcome, score, problems and warnings, in 24 lines before the closing one."""

from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from concord.assessment.result_row import ResultRow
from concord.assessment.results import Finding
from concord_cli.row_text.brief import MAX_LINES, Brief
from concord_cli.row_text.interactions import REMEDY
from concord_cli.row_text.team_tasks import CAUSES
from tests.assistant_rows import lone_assistant, row_with, troubled_day
from tests.team_rows import (
    crowd,
    ground_truth,
    half_judged,
    mesh_of_five,
    row_of,
    silent_team,
    star_of_five,
    troubled_six,
    unjudged_and_unseen,
)
from tests.team_task_rows import clean_team, failure, flow_of, seat_names, team_task, trial_with, withholding_team
from tests.unit.cli.rows import BOTTLENECK, row

LONG = "a sentence that goes on and on, 漢字 included, for much longer than any screen is wide; " * 20


def shown(of: ResultRow, width: int = 80) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(Brief(of, "council"))
    return out.getvalue().splitlines()


def flat(of: ResultRow) -> str:
    return " ".join(" ".join(shown(of)).split())


def with_detail(of: ResultRow, **changes: object) -> ResultRow:
    return of.model_copy(update={"detail": of.detail.model_copy(update=changes)})


def worst_case() -> ResultRow:
    """Many long problems and warnings of a team that nobody could observe."""
    finding = Finding(
        id="unexplained_knowledge", agents=[LONG], metric_id=None, value=1, threshold=0, step_ids=[], advice=LONG
    )
    failures = [failure(seat, cause=cause, facts=[LONG, LONG]) for seat in seat_names(5) for cause in CAUSES]
    trial = trial_with(team_task(flow_of(), failures), task_id=LONG[:100])
    unseen = unjudged_and_unseen().detail
    return with_detail(
        row_of(seat_names(5), trial, trial),
        findings=[finding] * 30,
        warnings=[LONG] * 30,
        infrastructure=troubled_six().detail.infrastructure * 10,
        trace_integrity=unseen.trace_integrity.model_copy(update={"late": 3}),
        scoring=half_judged().detail.scoring,
        confidence="insufficient",
    )


@pytest.mark.parametrize(
    "make",
    [
        mesh_of_five,
        star_of_five,
        troubled_six,
        ground_truth,
        half_judged,
        unjudged_and_unseen,
        silent_team,
        crowd,
        withholding_team,
        clean_team,
        lone_assistant,
        lambda: row_with(troubled_day()),
        worst_case,
    ],
)
def test_every_row_ends_a_run_with_at_most_25_lines(make: Callable[[], ResultRow]) -> None:
    lines = shown(make())

    assert len(lines) + 1 <= MAX_LINES + 1 == 25, "\n".join(lines)
    assert all(len(line) <= 80 for line in lines)


def test_the_head_has_name_date_outcome_and_the_score_with_its_basis() -> None:
    dated = with_detail(row(), started_at=datetime(2026, 9, 8, 12, 36, 1, tzinfo=UTC))
    _, name, outcome, score, team, *_ = shown(dated)

    assert name == "council · 8 Sep 2026, 12:36 UTC"
    assert outcome == "Passed: 1 of 1 usable trial passed, 4.2 s"
    assert score == "Score 80.0 of 100: outcome 0.80 (by code)"
    assert team.startswith("2 agents · ")


def test_the_head_names_an_assistant() -> None:
    [agent] = lone_assistant().detail.agents

    assert shown(lone_assistant())[1].split(" · ")[:2] == ["council", agent.id]


def test_an_old_row_without_a_date_has_only_its_name() -> None:
    assert shown(row())[1] == "council"


def test_seconds_are_shown_as_people_write_them() -> None:
    assert "passed, 4.75 s" in flat(row().model_copy(update={"time_used": 4.748}))
    assert "passed, 2.1 min" in flat(row().model_copy(update={"time_used": 126.3}))


@pytest.mark.parametrize(
    ("make", "outcome"),
    [(withholding_team, "Failed: 0 of 1"), (half_judged, "Partly passed: 1 of 3"), (unjudged_and_unseen, "Not judged")],
)
def test_the_outcome_is_one_word(make: Callable[[], ResultRow], outcome: str) -> None:
    assert shown(make())[2].startswith(outcome)


def test_causes_of_wrong_answers_come_before_findings_and_three_are_shown() -> None:
    text = flat(worst_case())

    assert "Why answers are wrong (3 of 65) agent/1 " in text
    assert "Warnings (2 of 4" in text
    assert "Unexplained knowledge" not in text


def test_a_wrong_answer_is_explained_by_its_grading() -> None:
    assert "coordinator's answer: names 3 of the 4 faults" in flat(troubled_six())


def test_a_lost_criterion_of_an_assistant_is_a_problem() -> None:
    assert "of 10 points: " in flat(row_with(troubled_day()))


def test_unobserved_calls_take_two_lines_with_a_remedy() -> None:
    lines = shown(unjudged_and_unseen())
    [at] = [place for place, line in enumerate(lines) if "could not be observed" in line]

    assert REMEDY[0][:60] in lines[at + 1]


def test_the_table_of_team_tasks_is_shown_if_it_fits() -> None:
    many = row_of(seat_names(5), *(trial_with(team_task(flow_of()), task_id=f"task-{n}") for n in range(20)))

    assert "fewest" in flat(clean_team())
    assert "Why answers are wrong None is wrong." in flat(clean_team())
    assert "fewest" not in flat(many)


def test_an_assistants_points_are_shown_by_dimension() -> None:
    text = flat(row_with(troubled_day()))

    assert "Points accuracy " in text
    assert text.count("█") > 0
    assert "Points" not in flat(clean_team())


def test_findings_of_one_kind_are_one_problem() -> None:
    hubs = [BOTTLENECK, BOTTLENECK.model_copy(update={"agents": ["guide"]})]
    assert "Bottleneck (also hub, guide): Let the spokes talk to each other." in flat(row(findings=hubs))


def test_control_characters_do_not_reach_the_terminal() -> None:
    hostile = with_detail(row(), warnings=["\x1b]0;owned\x07"], agents=[])
    assert "\x1b" not in "".join(shown(hostile))

"""The end of a run: name, date, verdict, causes, changes and unknowns, in 24 lines before the closing one."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from concord.assessment.result_row import ResultRow
from concord.assessment.team_results import PartFailure
from concord.assessment.verdict import KINDS_OF_PARTS
from concord_cli.row_text.brief import MAX_LINES, Brief
from concord_cli.row_view.flows import REMEDY
from concord_cli.row_view.view import view_of
from concord_evaluator.verdict import verdict_of
from tests.kit.assistant_rows import lone_assistant, row_with, troubled_day
from tests.kit.team_rows import (
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
from tests.kit.team_task_rows import clean_team, failure, flow_of, seat_names, team_task, trial_with, withholding_team
from tests.unit.cli.rows import row

LONG = "a sentence that goes on and on, 漢字 included, for much longer than any screen is wide; " * 20


def shown(of: ResultRow, width: int = 80, *, terminal: bool = True) -> list[str]:
    out = StringIO()
    console = Console(file=out, width=width, highlight=False, force_terminal=terminal, color_system=None)
    console.print(Brief(view_of(of), "council"))
    return out.getvalue().splitlines()


def flat(of: ResultRow) -> str:
    return " ".join(" ".join(shown(of)).split())


def with_detail(of: ResultRow, **changes: object) -> ResultRow:
    whole = of.model_copy(update={"detail": of.detail.model_copy(update=changes)})
    return whole.model_copy(update={"detail": whole.detail.model_copy(update={"verdict": verdict_of(whole)})})


def failures(fact: str) -> list[PartFailure]:
    """A failure of each kind in each of five seats, all about the same part."""
    return [failure(seat, cause=kind, facts=[fact]) for seat in seat_names(5) for kind in KINDS_OF_PARTS]


def worst_case() -> ResultRow:
    """Many long causes and warnings of a team that nobody could observe."""
    trial = trial_with(team_task(flow_of(), failures(LONG)), task_id=LONG[:100])
    unseen = unjudged_and_unseen().detail
    return with_detail(
        row_of(seat_names(5), trial, trial),
        warnings=[f"{LONG} {number}" for number in range(30)],
        infrastructure=troubled_six().detail.infrastructure * 10,
        trace_integrity=unseen.trace_integrity.model_copy(update={"late": 3}),
        scoring=half_judged().detail.scoring,
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


def test_the_head_has_name_date_verdict_and_the_score_with_its_basis() -> None:
    dated = with_detail(row(), started_at=datetime(2026, 9, 8, 12, 36, 1, tzinfo=UTC))
    _, name, outcome, score, team, *_ = shown(dated)

    assert name == "council · 8 Sep 2026, 12:36 UTC"
    assert outcome == "Passed: 1 of 1 trial reached the mark of 66, 4.2 s"
    assert score == "Score 80.0 of 100: outcome 0.80 (by code)"
    assert team == "2 agents · task"


def test_the_interval_is_shown_beside_the_score() -> None:
    wide = row().detail.statistics.model_copy(update={"score_low": 71.2, "score_high": 88.9})

    assert "Score 80.0 of 100 (95 %: 71 to 89): outcome" in flat(with_detail(row(), statistics=wide))


def test_the_head_names_an_assistant() -> None:
    [agent] = lone_assistant().detail.agents

    assert shown(lone_assistant())[1].split(" · ")[:2] == ["council", agent.id]


def test_a_row_without_a_date_has_only_its_name() -> None:
    assert shown(row())[1] == "council"


def test_a_row_of_an_earlier_version_is_said_to_have_no_verdict() -> None:
    assert shown(row())[2] == "No verdict: an earlier version of Concord wrote this result, 4.2 s"


def test_seconds_are_shown_as_people_write_them() -> None:
    assert "66, 4.75 s" in flat(with_detail(row()).model_copy(update={"time_used": 4.748}))
    assert "66, 2.1 min" in flat(with_detail(row()).model_copy(update={"time_used": 126.3}))


@pytest.mark.parametrize(
    ("make", "outcome"),
    [
        (withholding_team, "Failed: 0 of 1"),
        (half_judged, "Undecided: 1 of 3"),
        (ground_truth, "Not played"),
    ],
)
def test_the_outcome_is_one_word(make: Callable[[], ResultRow], outcome: str) -> None:
    assert shown(make())[2].startswith(outcome)


def test_what_is_known_of_a_team_that_nobody_judged_comes_first() -> None:
    known, *others = shown(unjudged_and_unseen())[2:]
    assert known.startswith("Seen: 5 agents, 2 calls between them, 0 failed, 243 ms per call")
    assert any(line.startswith("Not judged") for line in others)


def test_causes_come_first_and_those_left_out_are_counted() -> None:
    text = flat(worst_case())

    assert "What cost points (3 of 70) 1.0 agent/1 " in text
    assert text.index("What cost points") < text.index("Not known (")


def test_what_is_unknown_is_said_with_a_remedy_for_unobserved_calls() -> None:
    lines = shown(unjudged_and_unseen())
    [at] = [place for place, line in enumerate(lines) if "could not be observed" in line]

    assert lines.index("Not known") < at
    assert any(REMEDY[0][:60] in line for line in lines)


def test_a_team_that_lost_nothing_is_told_so_and_one_that_nobody_judged_is_not() -> None:
    assert "Nothing cost points." in flat(clean_team())
    assert "Nothing cost points." not in flat(unjudged_and_unseen())
    assert "Nothing cost points." not in flat(ground_truth())


def test_an_unexplained_answer_has_the_words_of_its_grade() -> None:
    assert "review: the answer is not right, and no cause could be shown: coordinator: names 3 of" in flat(
        troubled_six()
    )


def test_a_lost_criterion_of_an_assistant_is_a_cause() -> None:
    assert "Nobody else is written to: not met: written to: desk@brightline.example" in flat(row_with(troubled_day()))


def test_the_table_of_team_tasks_is_shown_if_it_fits() -> None:
    many = row_of(seat_names(5), *(trial_with(team_task(flow_of()), task_id=f"task-{n}") for n in range(20)))

    assert "fewest" in flat(clean_team())
    assert "fewest" not in flat(many)


def test_an_assistants_points_are_shown_by_dimension() -> None:
    text = flat(row_with(troubled_day()))

    assert "Points accuracy " in text
    assert text.count("█") > 0
    assert "Points" not in flat(clean_team())


def test_a_repeated_warning_is_shown_once_with_its_number_of_trials() -> None:
    trials = [trial_with(team_task(flow_of()), trial_id=f"trial-{n}") for n in range(24)]
    warned = with_detail(
        row_of(seat_names(5), *trials), warnings=[f"trial-{n}: call peers" for n in range(24)] + ["typo"]
    )
    text = " ".join(shown(warned, terminal=False))

    assert "  call peers (24 trials)" in text
    assert text.count("call peers") == 1


def test_where_no_terminal_is_nothing_is_left_out_or_cut() -> None:
    lines = shown(worst_case(), width=100_000, terminal=False)

    assert len([line for line in lines if LONG.strip() in line]) >= 20
    assert not any("…" in line for line in lines if line.startswith("  "))
    assert len([line for line in lines if re.match(r"  +\d+\.\d  agent/", line)]) >= 20


def test_control_characters_do_not_reach_the_terminal() -> None:
    hostile = with_detail(row(), warnings=["\x1b]0;owned\x07"], agents=[])
    assert "\x1b]0" not in "".join(shown(hostile))

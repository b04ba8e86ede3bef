"""What the head of a summary says of a team's lift."""

import pytest

from concord.assessment.result_row import ControlRecord
from concord_cli.row_text.lift import lift_text


def lift(gap: float, low: float | None, high: float | None, tasks: int = 8, **changes: object) -> ControlRecord:
    record = ControlRecord(
        control="alone",
        trials=tasks,
        tasks=tasks,
        team=0.7,
        value=0.7,
        gap=gap,
        gap_low=low,
        gap_high=high,
        cut_off=True,
    )
    return record.model_copy(update=changes)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (lift(0.12, 0.03, 0.21), "The team adds 12 points [3, 21] to the starting agent alone."),
        (lift(0.01, 0.005, 0.02), "The team adds 1 point [0, 2] to the starting agent alone."),
        (
            lift(0.12, -0.03, 0.27),
            "Over the starting agent alone, the team adds nothing that 8 pairs of trials can show (+12 [-3, 27]).",
        ),
        (
            lift(-0.12, -0.21, -0.03),
            "The team is 12 points worse than the starting agent alone: -12 [-21, -3].",
        ),
        (
            lift(1.0, 1.0, 1.0, tasks=5),  # equal gaps: the interval has no width, and chance is 1 in 16
            "Over the starting agent alone, the team adds nothing that 5 pairs of trials can show (+100 [100, 100]).",
        ),
        (
            lift(1.0, None, None, tasks=1),
            "Over the starting agent alone, the team adds nothing that 1 pair of trials can show "
            "(+100 without an interval: too few tasks).",
        ),
        (
            lift(0.12, 0.03, 0.21, control="solo", cut_off=None),
            "The team adds 12 points [3, 21] to one agent with all briefs.",
        ),
    ],
)
def test_it_says_what_the_team_adds_only_where_the_tasks_show_it(record: ControlRecord, text: str) -> None:
    assert lift_text(record) == text


def test_it_says_where_the_agent_may_not_have_been_alone() -> None:
    assert lift_text(lift(0.12, 0.03, 0.21, cut_off=None)).endswith(
        "The agent's calls were not observed, so it may have reached its peers when alone."
    )
    assert "a peer answered a call when it was alone" in lift_text(lift(0.0, 0.0, 0.0, cut_off=False))

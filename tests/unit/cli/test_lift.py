"""What the head of a summary says of a team's lift."""

from io import StringIO

import pytest
from rich.console import Console

from concord.assessment.result_row import ControlRecord, Figure, ResultRow
from concord_cli.report.page import page_of
from concord_cli.row_text.brief import Brief
from concord_cli.row_view.score import lift_text, rating_of
from concord_cli.row_view.view import view_of
from tests.kit.team_rows import mesh_of_five
from tests.kit.team_task_rows import withholding_team


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


class TestPlaces:
    """Every place that shows a row shows the figures beside its score, each with its interval."""

    @staticmethod
    def row(control: str) -> ResultRow:
        known = Figure(value=0.8, low=0.7, high=0.9, trials=8)
        row = mesh_of_five() if control == "alone" else withholding_team()
        figures = {
            "basis": "outcome_only" if control == "alone" else "outcome",
            "information": known,
            "economy": known.model_copy(update={"value": 0.6, "low": 0.5}),
            "lift": lift(0.12, 0.03, 0.21, control=control),
        }
        scoring = row.detail.scoring.model_copy(update=figures)
        return row.model_copy(update={"detail": row.detail.model_copy(update={"scoring": scoring})})

    @pytest.mark.parametrize("control", ["alone", "solo"])
    @pytest.mark.parametrize("place", ["end of a run", "page"])
    def test_they_are_shown_with_their_intervals(self, place: str, control: str) -> None:
        row, out = self.row(control), StringIO()
        shown = {
            "end of a run": Brief(view_of(row), "council"),
            "page": "\n".join(page_of(row).view.head.score_notes),
        }
        Console(file=out, width=200, highlight=False).print(shown[place])
        text = out.getvalue()
        assert "The team adds 12 points [3, 21] to " in text
        assert "Information 0.80 (0.70 to 0.90), economy 0.60 (0.50 to 0.90)." in text

    def test_teamwork_is_not_said_to_be_unmeasured_where_the_agent_was_tried_alone(self) -> None:
        row = self.row("alone")
        assert "teamwork not measured" not in rating_of(row).rests_on
        scoring = row.detail.scoring.model_copy(update={"lift": None})
        without = row.model_copy(update={"detail": row.detail.model_copy(update={"scoring": scoring})})
        assert "teamwork not measured" in rating_of(without).rests_on

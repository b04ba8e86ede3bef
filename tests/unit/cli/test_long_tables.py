"""The long tables show what stands behind the verdict of a row, and nothing that the row does not have."""

from io import StringIO

from rich.console import Console

from concord.assessment.result_row import GraphMetricsSummary, ResultRow
from concord.assessment.results import Judgment, LatencySummary
from concord_cli.number_text import NONE
from concord_cli.row_text.long_tables import MAX_ROWS, tables
from concord_cli.row_view.flows import REMEDY
from concord_cli.row_view.view import view_of
from tests.kit.assistant_rows import assistant_team, lone_assistant
from tests.kit.team_rows import lone_participant, mesh_of_five, unjudged_and_unseen, unseen
from tests.kit.team_task_rows import clean_team, team_by_calls, withholding_team
from tests.unit.cli.rows import BOTTLENECK, interaction, on_structure, row, trial


def shown(of: ResultRow, width: int = 100) -> str:
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(tables(view_of(of)))
    return out.getvalue()


def flat(text: str) -> str:
    """The text without line breaks, since a terminal wraps sentences."""
    return " ".join(text.split())


def line_with(word: str, text: str) -> str:
    return next(line for line in text.splitlines() if word in line)


def test_participants_that_could_not_be_observed_are_named_with_the_remedy() -> None:
    text = flat(shown(unjudged_and_unseen()))

    assert "could not be observed: researcher_2, reviewer. Calls to reviewer were not observed either." in text
    assert all(line in text for line in REMEDY)
    assert "Unobserved calls" not in shown(mesh_of_five())


def test_coordination_without_a_label_gives_the_reason() -> None:
    assert line_with("coordination", shown(unseen())).split() == ["coordination", "not", "observed"]
    assert "No call between agents was observed." in shown(unseen())
    assert line_with("coordination", shown(lone_participant())).split() == ["coordination", "one", "participant"]


def test_findings_keep_the_order_of_the_row() -> None:
    contradicted = BOTTLENECK.model_copy(update={"id": "contradicted_reports", "metric_id": None})
    text = shown(row(findings=[contradicted, BOTTLENECK])).partition("What was seen")[2]

    assert text.index("contradicted reports") < text.index("bottleneck")


def test_every_part_of_a_structure_score_is_shown_with_its_value_or_reason() -> None:
    text = shown(on_structure(version="1"))

    assert "0.90 █████████░" in line_with("communication", text)
    assert line_with("task ", text).split() == ["task", "undefined", "0.50", "no", "check", "was", "given"]


def test_the_shape_has_the_figures_that_are_known_and_no_others() -> None:
    text = shown(row())
    assert line_with("density", text).split() == ["density", "0.75"]
    assert line_with("reciprocity", text).split() == ["reciprocity", "0.25"]
    assert "isolated" not in text

    empty = GraphMetricsSummary(graph_density=None, has_bottleneck=None, isolated_agents=[], coordination_quality=None)
    assert "density" not in shown(row(graph_metrics=empty))
    assert "undefined" not in shown(row(graph_metrics=empty))


def test_a_finding_shows_its_agents_its_figure_and_its_sentence() -> None:
    graph = GraphMetricsSummary(
        graph_density=0.3, has_bottleneck=True, isolated_agents=["alone"], coordination_quality="bottleneck"
    )
    text = shown(row(findings=[BOTTLENECK], graph_metrics=graph))

    assert "hub" in line_with("bottleneck  ", text.partition("What was seen")[2])
    assert "0.6 (threshold 0.5)" in text
    assert BOTTLENECK.advice in text
    assert line_with("isolated", text).split() == ["isolated", "agents", "alone"]


def test_only_a_models_words_are_a_judgment() -> None:
    assert "words" not in shown(row())
    model = Judgment(
        source="llm",
        reason=None,
        overall_score=0.8,
        task_success=0.8,
        coordination_quality="high",
        reasoning="They divide the work.",
        strengths=["clear"],
        weaknesses=["slow"],
    )
    assert "The model's words They divide the work. + clear - slow" in flat(shown(row(judge=model)))


def test_calls_are_summed_over_the_trials_with_those_that_failed() -> None:
    trials = [trial(interaction("hub", "reviewer", 2)), trial(interaction("hub", "reviewer", 1, errors=1))]

    text = shown(row(trials=trials))

    assert "Who called whom, over 2 trials" in text
    [line] = [line.split() for line in text.splitlines() if line.startswith("  hub")]
    assert line[:5] == ["hub", "reviewer", "3", "✕", "1"]


def test_flows_beyond_the_limit_are_counted() -> None:
    calls = [interaction(f"agent_{number:02}", "hub") for number in range(MAX_ROWS + 3)]

    assert "and 3 more" in shown(row(trials=[trial(*calls)]))


def test_a_team_without_calls_is_described_as_silent() -> None:
    text = shown(row(trials=[trial()], latency_metrics=LatencySummary()))

    assert "No agent called another." in text
    assert "Latency" not in text


def test_latency_comes_with_its_number_of_calls_and_the_slowest_agent() -> None:
    figures = "average 12 ms · median 11 ms · 95th percentile 20 ms · 99th percentile 21 ms"
    assert f"{figures} · over 8 calls · slowest: reviewer" in shown(row(), 130)


def test_the_table_of_tasks_has_the_messages_against_the_fewest() -> None:
    [line] = [line for line in shown(withholding_team()).splitlines() if line.startswith("  review")]
    assert line.split() == ["review", "(complete)", "0.00", "0.00", "0.00", "3", "20", "4", "4"]


def test_rounds_have_a_column_only_if_a_task_was_played_in_rounds() -> None:
    assert "rounds" in shown(withholding_team())
    assert "rounds" not in shown(team_by_calls())


def test_a_seat_that_repeats_itself_is_named_with_the_fact() -> None:
    text = flat(shown(withholding_team()))
    assert "agent/3 sent 4 of its 8 messages without a fact that was new to their receivers" in text
    assert "it repeated reading of agent/3 (4 times)" in text
    assert "Redundant messages" not in shown(clean_team())


def test_controls_are_shown_with_the_gap_and_its_interval() -> None:
    lines = {tuple(line.split()) for line in shown(withholding_team()).splitlines()}
    assert ("one", "agent", "with", "all", "briefs", "0.25", "1.00", "-0.75", "-0.90", "to", "-0.60", "3") in lines
    assert ("a", "team", "without", "a", "channel", "0.25", "0.00", "+0.25", NONE, "3") in lines


def test_dimensions_are_in_one_order_whatever_the_rows_order() -> None:
    lines = [line.split() for line in shown(lone_assistant()).splitlines()]
    assert [line[0] for line in lines if line[-1:] and set(line[-1]) <= {"█", "░"}] == [
        "accuracy",
        "instruction",
        "safety",
    ]


def test_the_endings_of_an_assistants_turns_and_the_faults_of_people_are_told() -> None:
    text = flat(shown(lone_assistant()))
    assert "first_day: ended by the assistant after 3 turns and 7 actions" in text
    assert "Faults of the simulated people turn 1, tom: the reply contradicts the profile" in text


def test_a_lone_assistant_has_no_shape_and_a_team_has_its_label() -> None:
    assert "coordination" not in shown(lone_assistant())
    assert line_with("coordination", shown(assistant_team())).split() == ["coordination", "high"]


def test_control_characters_in_a_row_do_not_reach_the_terminal() -> None:
    hostile = BOTTLENECK.model_copy(update={"advice": "\x1b[2Jgone [red]"})
    text = shown(row(findings=[hostile]))

    assert "\x1b" not in text
    assert "gone [red]" in text

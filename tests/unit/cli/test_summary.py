"""The summary shows the main results of a row, and works for every row."""

from io import StringIO

from rich.console import Console

from concord.assessment.result_row import GraphMetricsSummary, ResultRow, Scoring
from concord.assessment.results import LatencySummary, TraceIntegrity
from concord_cli.row_text.interactions import MORE_ON_STRUCTURE, REMEDY, STRUCTURE_AND_SUCCESS
from concord_cli.row_text.summary import MAX_CALLERS, summary
from tests.rows import ONE_TRIAL
from tests.team_rows import ground_truth, lone_participant, mesh_of_five, troubled_six, unjudged_and_unseen, unseen
from tests.unit.cli.rows import BOTTLENECK, FAILURE, interaction, on_structure, row, trial


def shown(of: ResultRow) -> str:
    out = StringIO()
    Console(file=out, width=100, highlight=False).print(summary(of))
    return out.getvalue()


def flat(text: str) -> str:
    """The text without line breaks, since a terminal wraps sentences."""
    return " ".join(text.split())


def line_with(word: str, text: str) -> str:
    return next(line for line in text.splitlines() if word in line)


def test_the_headline_has_score_label_trials_agents_and_time() -> None:
    text = shown(row())

    assert "Score 80.0 of 100: outcome 0.80 (by code)\n" in text
    assert "coordination: high · 2 agents · 1 of 1 usable trial passed · 4.2 s\n" in text
    assert "confidence: low" in shown(row(confidence="low"))


def test_the_interval_is_shown_beside_the_score() -> None:
    wide = ONE_TRIAL.model_copy(update={"score_low": 71.2, "score_high": 88.9})
    partly = row().detail.scoring.model_copy(update={"unjudged": 1, "score_high": 90.0})

    assert "Score 80.0 of 100 (95 %: 71 to 89): outcome" in shown(row(statistics=wide))
    assert "Score 80.0 to 90.0 of 100 (95 %: 71 to 89): outcome" in shown(row(statistics=wide, scoring=partly))


def test_without_a_judge_the_reason_replaces_the_score() -> None:
    text = shown(unjudged_and_unseen())

    assert "No score: nobody judged the outcome (the task has no scorer, and AGENTBEATS_LLM_API_KEY is not set)" in text
    assert "1 usable trial, none judged" in text
    assert "of 100" not in text


def test_an_outcome_has_no_weight() -> None:
    text = shown(troubled_six())
    assert "weight" not in text
    assert "0.20 ██░░░░░░░░" in line_with("outcome", text.partition("\nOutcome")[2].partition("Agent graph")[0])


def test_the_caveat_on_structure_appears_once() -> None:
    for each in (mesh_of_five(), unjudged_and_unseen(), ground_truth()):
        assert flat(shown(each)).count(STRUCTURE_AND_SUCCESS) == 1
    assert MORE_ON_STRUCTURE in shown(row())


def test_participants_that_could_not_be_observed_are_named_with_the_remedy() -> None:
    text = flat(shown(unjudged_and_unseen()))

    assert "could not be observed: researcher_2, reviewer. Calls to reviewer were not observed either." in text
    assert all(line in text for line in REMEDY)
    assert "Unobserved calls" not in shown(mesh_of_five())


def test_coordination_without_a_label_gives_the_reason() -> None:
    assert "coordination: not observed ·" in shown(unseen())
    assert "No call between agents was observed." in shown(unseen())
    assert "coordination: one participant ·" in shown(lone_participant())


def test_findings_keep_the_order_of_the_row() -> None:
    contradicted = BOTTLENECK.model_copy(update={"id": "contradicted_reports", "metric_id": None})
    text = shown(row(findings=[contradicted, BOTTLENECK])).partition("Findings")[2]

    assert text.index("contradicted reports") < text.index("bottleneck")


def test_every_part_of_a_structure_score_is_shown_with_its_value_or_reason() -> None:
    text = shown(on_structure(version="1"))

    assert "Score 80.0 of 100: rates structure, by version 1 of the rules; nobody judged the outcome\n" in text
    assert "0.90 █████████░" in line_with("communication", text)
    assert line_with("task ", text).split() == ["task", "undefined", "0.50", "no", "check", "was", "given"]


def test_graph_metrics_are_shown_with_their_values() -> None:
    text = shown(row())

    assert line_with("density", text).split() == ["density", "0.75"]
    assert line_with("bottleneck", text).split() == ["bottleneck", "no"]
    assert line_with("isolated", text).split() == ["isolated", "agents", "none"]
    assert line_with("reciprocity", text).split() == ["reciprocity", "0.25"]


def test_a_finding_shows_its_agents_its_figure_and_its_advice() -> None:
    graph = GraphMetricsSummary(
        graph_density=0.3, has_bottleneck=True, isolated_agents=["alone"], coordination_quality="bottleneck"
    )
    text = shown(row(findings=[BOTTLENECK], graph_metrics=graph))

    assert "hub" in line_with("bottleneck  ", text.partition("Findings")[2])
    assert "0.60 (threshold 0.50)" in text
    assert "Let the spokes talk to each other." in text
    assert line_with("isolated", text).split() == ["isolated", "agents", "alone"]


def test_advice_is_given_once() -> None:
    text = shown(row(findings=[BOTTLENECK], weaknesses=[BOTTLENECK.advice, "They are slow."]))

    assert text.count(BOTTLENECK.advice) == 1
    assert "- They are slow." in text


def test_calls_are_summed_over_the_trials_with_those_that_failed() -> None:
    trials = [trial(interaction("hub", "reviewer", 2)), trial(interaction("hub", "reviewer", 1, errors=1))]

    text = shown(row(trials=trials))

    assert "Who called whom, over 2 trials" in text
    assert "hub  →  reviewer x3 (1 failed)" in text


def test_callers_beyond_the_limit_are_counted() -> None:
    calls = [interaction(f"agent_{number:02}", "hub") for number in range(MAX_CALLERS + 3)]

    assert "and 3 more" in shown(row(trials=[trial(*calls)]))


def test_a_team_without_calls_is_described_as_silent() -> None:
    text = shown(row(trials=[trial()], latency_metrics=LatencySummary()))

    assert "No agent called another." in text
    assert "Latency" not in text


def test_latency_comes_with_its_number_of_calls_and_the_slowest_agent() -> None:
    assert "avg 12 ms · p50 11 ms · p95 20 ms · p99 21 ms · over 8 calls · slowest: reviewer" in shown(row())


def test_infrastructure_failures_failed_trials_and_doubtful_steps_are_warned_of() -> None:
    text = shown(
        row(
            infrastructure=[FAILURE],
            trials=[trial(), trial(trial_id="trial-3", state="timeout", error="after 20 s")],
            trace_integrity=TraceIntegrity(late=2, contradicted=1),
            warnings=["unknown key: sede"],
        )
    ).partition("Warnings")[2]

    assert "trial-2: evaluation failed: no worker" in text
    assert "trial-3: timeout: after 20 s" in text
    assert "steps of the trace: 1 contradicted, 2 late" in text
    assert "unknown key: sede" in text


def test_a_row_without_a_score_is_shown_too() -> None:
    scoring = Scoring(version="1", pass_threshold=0.66, usable_trials=0, passed_trials=0, sub_scores=[])
    empty = GraphMetricsSummary(graph_density=None, has_bottleneck=None, isolated_agents=[], coordination_quality=None)
    silent = row(scoring=scoring, graph_metrics=empty, trials=[], judge=None, reasoning="", strengths=[])
    text = shown(silent.model_copy(update={"score": None}))

    assert "No score" in text
    assert line_with("density", text).split() == ["density", "undefined"]
    assert "Judgment" not in text


def test_control_characters_in_a_row_do_not_reach_the_terminal() -> None:
    text = shown(row(reasoning="\x1b[2Jgone [red]", warnings=["\x1b]0;owned\x07"]))

    assert "\x1b" not in text
    assert "gone [red]" in text

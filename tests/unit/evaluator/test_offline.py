"""Offline evaluation: a trace without services yields the same figures, from the same functions."""

import pytest
from pydantic import JsonValue

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow
from concord.trace.effects import Effect, EffectKind
from concord.trace.report import Report
from concord.trace.step import StepAction, ToolInvocation
from concord.wire.roster import RosterEntry
from concord_evaluator.formats import Origin, TraceBuilder
from concord_evaluator.offline import evaluate_trace
from concord_evaluator.scoring import structure_of
from tests.kit.graphs import Team, chain, graph_of, mesh, star, with_isolated
from tests.kit.traces import TRACE_ID, call, model_of, reported_by, tool, url_of

PATH: dict[str, JsonValue] = {"path": "src/park.py"}


def row_of(reports: list[Report], agents: list[str], task_success: float | None = None, **config: object) -> ResultRow:
    building = TraceBuilder(TRACE_ID, Origin("file"))
    for agent in agents:
        building.declare(RosterEntry(id=agent, url=url_of(agent)))
    for report in reports:
        building.add(model_of(report), report.reporter, channel=report.channel, authenticated=report.authenticated)
    building.task_success = task_success
    building.warn("something was inferred")
    return evaluate_trace(building.build(), AssessmentConfig.model_validate(config))


def row_of_team(team: Team, task_success: float | None = None, **config: object) -> ResultRow:
    names, calls = team
    reports = [report for number, (a, b) in enumerate(calls) for report in reported_by(a, call(f"{number:03}", b))]
    return row_of(reports, names, task_success, **config)


@pytest.mark.parametrize(
    "team", [star(5), chain(5), mesh(5), with_isolated(star(4))], ids=["star", "chain", "mesh", "isolated"]
)
def test_the_structure_is_that_of_the_evaluator(team: Team) -> None:
    row = row_of_team(team)
    structure = structure_of(graph_of(team), row.detail.findings)
    assert row.detail.graph_metrics.graph_density == structure.density
    assert row.detail.graph_metrics.isolated_agents == structure.isolated
    assert row.task_rewards.coordination_quality == structure.coordination_value
    assert row.detail.coordination_quality == structure.coordination_quality


def test_the_highest_betweenness_of_known_shapes_matches_values_by_hand() -> None:
    highest = [
        max(metric.value or 0 for metric in row_of_team(team).detail.metrics if metric.id == "betweenness_centrality")
        for team in (star(5), chain(5), mesh(5), with_isolated(star(4)))
    ]
    assert highest == pytest.approx([1.0, 2 / 3, 0.0, 0.5])


def test_a_trace_is_one_usable_trial() -> None:
    row = row_of_team(mesh(3))
    [trial] = row.detail.trials
    assert (trial.trace_id, trial.state, trial.usable, row.detail.infrastructure) == (TRACE_ID, "completed", True, [])


@pytest.mark.parametrize("success", [0.0, 0.5, 1.0])
def test_the_recorded_outcome_is_the_score(success: float) -> None:
    row = row_of_team(mesh(3), task_success=success)
    assert row.score == 100 * success
    scoring = row.detail.scoring
    assert (scoring.basis, scoring.judged_by_record, scoring.unjudged) == ("recorded", 1, 0)
    assert [(part.id, part.value) for part in scoring.sub_scores] == [("outcome", success)]


def test_without_an_outcome_there_is_no_score_and_the_structure_is_kept() -> None:
    row = row_of_team(mesh(3))
    assert (row.score, row.detail.scoring.unjudged) == (None, 1)
    assert row.detail.trials[0].grading is not None
    assert row.detail.trials[0].grading.source == "nobody"
    assert row.detail.coordination_quality == "high"


def test_warnings_of_the_reader_are_in_the_row() -> None:
    assert row_of_team(mesh(3)).detail.warnings == ["trial-1: something was inferred"]


def test_the_config_of_an_assessment_applies() -> None:
    row = row_of_team(mesh(3), metrics=["density"], thresholds={"pass": 0.1})
    assert {metric.id for metric in row.detail.metrics} == {"density"}
    assert row.detail.scoring.pass_threshold == 0.1


def test_the_judge_runs_only_if_requested() -> None:
    assert row_of_team(mesh(3), evaluators=["graph"]).detail.judge is None
    assert row_of_team(mesh(3), evaluators=["graph", "judge"]).detail.judge is not None


def test_the_evidence_setting_applies_to_files() -> None:
    assert row_of_team(mesh(3), evidence="observed").detail.trials[0].interactions == []


@pytest.mark.parametrize(("success", "messages"), [(None, None), (1.0, 12), (0.5, None), (0.0, None)])
def test_messages_per_completed_task_is_undefined_unless_the_task_is_known_to_be_completed(
    success: float | None, messages: float | None
) -> None:
    [metric] = [
        metric
        for metric in row_of_team(mesh(3), task_success=success).detail.trials[0].metrics
        if metric.id == "messages_per_completed_task"
    ]
    assert metric.value == messages
    why_not = "nobody knows whether the task was completed" if success is None else "the task was not completed"
    assert (metric.status, metric.reason) == (("ok", None) if messages else ("undefined", why_not))


def test_a_declared_agent_precedes_the_one_found_at_its_address() -> None:
    declared = {"id": "writer", "url": "http://writer:1", "aliases": [url_of("B")]}
    row = row_of(reported_by("A", call("s", "B")), ["A"], roster=[declared])
    [pair] = row.detail.trials[0].interactions
    assert (pair.caller, pair.callee, [agent.id for agent in row.detail.agents]) == ("A", "writer", ["A", "writer"])


def test_a_trace_with_effects_says_who_read_what_another_had_written() -> None:
    edit = tool("1", attributes=Effect(EffectKind.EDITED, "src/park.py").attributes())
    reading = tool("2").model_copy(
        update={"step_action": StepAction(tool_invocation=ToolInvocation(tool_name="cat", parameters=PATH))}
    )
    row = row_of([*reported_by("A", edit), *reported_by("B", reading)], ["A", "B"])
    network = row.detail.trials[0].network
    assert network is not None
    assert [(each.artifact, each.writers, each.readers) for each in network.artifacts] == [
        ("src/park.py", ["A"], ["B"])
    ]
    assert row_of(reported_by("B", reading), ["A", "B"]).detail.trials[0].network is None

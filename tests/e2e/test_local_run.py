"""`concord run` on the sample team, as `make run` starts it, and on a team whose members call each other."""

import json
import signal

import jsonschema
import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow
from concord_evaluator.formats import Source, read_traces
from concord_evaluator.offline import evaluate_trace
from tests.e2e.concord import QUICK, ROOT, Concord, concord, row_in
from tests.e2e.processes import processes_with, programs_with, until

TEAM = ["coordinator", "researcher_1", "researcher_2", "synthesizer", "reviewer"]


@pytest.fixture(scope="module")
def row(mesh: Concord) -> ResultRow:
    assert mesh.finish() == 0, mesh.output
    return row_in(mesh.folder / "output/results.json")


def test_a_run_exits_with_0_and_its_results_match_the_shipped_schema(mesh: Concord) -> None:
    assert mesh.finish() == 0, mesh.output
    schema = json.loads((ROOT / "data/schemas/results.schema.json").read_text())

    jsonschema.validate(json.loads((mesh.folder / "output/results.json").read_text()), schema)


def test_every_agent_of_the_team_is_in_the_row(row: ResultRow) -> None:
    assert sorted(agent.id for agent in row.detail.agents) == sorted(TEAM)


def test_the_interactions_are_those_between_the_teams_agents(row: ResultRow) -> None:
    [trial] = row.detail.trials
    pairs = {(each.caller, each.callee) for each in trial.interactions}

    assert ("coordinator", "researcher_1") in pairs
    assert ("reviewer", "synthesizer") in pairs
    assert {name for pair in pairs for name in pair} == set(TEAM)
    assert all(each.calls > 0 and each.latency_avg_ms is not None for each in trial.interactions)


def test_a_good_team_has_neither_a_bottleneck_nor_an_isolated_agent(row: ResultRow) -> None:
    assert row.detail.graph_metrics.has_bottleneck is False
    assert row.detail.graph_metrics.isolated_agents == []
    assert not {"bottleneck", "isolated"} & {finding.id for finding in row.detail.findings}


def test_the_team_solves_its_task(row: ResultRow) -> None:
    [trial] = row.detail.trials

    assert (trial.state, trial.usable, trial.passed) == ("completed", True, True)
    assert trial.answer


def test_the_output_names_the_redis_the_progress_and_the_result(mesh: Concord, row: ResultRow) -> None:
    assert "Redis: " in mesh.output
    assert "trial 1 of 1" in mesh.output
    assert f"Score {row.score:.1f} of 100" in mesh.output
    assert "coordinator   →" in mesh.output
    assert "The result is in output/results.json" in mesh.output


def test_evaluating_the_saved_trace_gives_the_same_interactions(mesh: Concord, row: ResultRow) -> None:
    [live] = row.detail.trials
    with (mesh.folder / "traces/trial-1.jsonl").open("rb") as file:
        [trace] = read_traces(Source("trial-1.jsonl", file))
    [from_file] = evaluate_trace(trace, AssessmentConfig()).detail.trials
    assert (trace.trace_id, from_file.answer) == (live.trace_id, live.answer)
    assert [(each.caller, each.callee, each.calls) for each in from_file.interactions] == [
        (each.caller, each.callee, each.calls) for each in live.interactions
    ]


def test_a_finished_run_leaves_no_process_and_no_temporary_file(mesh: Concord) -> None:
    assert mesh.left_behind() == []


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Concord:
    """A finished `concord run` without arguments, in a folder with the shipped scenarios."""
    folder = tmp_path_factory.mktemp("quick")
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    with concord(folder, "run") as running:
        running.finish()
        return running


def test_without_arguments_the_sample_team_does_the_tasks_of_the_quick_manifest(quick: Concord) -> None:
    assert quick.finish() == 0, quick.output
    row = row_in(quick.folder / "output/results.json")
    assert [trial.task_id for trial in row.detail.trials] == ["maximum-5", "prefix-sums-5", "hidden-profile-5"]
    assert all(trial.grading is not None and trial.grading.value == 1 for trial in row.detail.trials), quick.output
    assert row.detail.findings == [], "a team that exchanges the fewest messages over one seat has no bottleneck"


def test_outcomes_causes_and_messages_against_the_fewest_fit_a_screen(quick: Concord) -> None:
    report = quick.output[quick.output.index("\nScore ") :].strip()
    assert len(report.splitlines()) <= 25, report
    assert "fewest" in report
    assert "Why answers are wrong\n  None is wrong." in report
    assert "run `concord report output/results.json`" in report


def test_without_a_model_the_oracle_plays_a_scenario_and_run_and_row_say_so(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("oracle")
    with concord(folder, "run", str(ROOT / "scenarios/assistant/first_day")) as running:
        assert running.finish() == 0, running.output
    assert "No language model is configured, so the oracle plays" in running.output
    assert "\nfirst_day · oracle · " in running.output
    assert running.output.rstrip().endswith("The score checks the scenario and measures no assistant")
    row = row_in(folder / "output/results.json")
    assert ([agent.id for agent in row.detail.agents], row.score) == (["oracle"], 100)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_no_process_and_no_temporary_file(
    number: signal.Signals, code: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with concord(tmp_path_factory.mktemp("stopped"), "run", str(QUICK)) as running:
        running.read_until("Starting")
        until(lambda: bool(programs_with(running.mark, "concord_suites.agent")))
        running.send(number)

        assert running.finish() == code
        assert running.left_behind() == []


def test_a_killed_run_leaves_no_process_and_no_temporary_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    with concord(tmp_path_factory.mktemp("killed"), "run", str(QUICK)) as running:
        running.read_until("Starting")
        until(lambda: bool(programs_with(running.mark, "concord_suites.agent")))
        assert len(processes_with(running.mark)) > 4
        running.send(signal.SIGKILL)
        running.finish()

        until(lambda: running.left_behind() == [])

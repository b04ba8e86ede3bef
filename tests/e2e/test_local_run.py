"""`concord run` without arguments, as `make run` starts it."""

import json

import jsonschema
import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow
from concord_evaluator.formats import Source, read_traces
from concord_evaluator.offline import evaluate_trace
from tests.kit.concord import ROOT, Concord, concord, row_in

pytestmark = pytest.mark.smoke


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Concord:
    """A finished `concord run`, in a folder with the shipped scenarios; it saved its traces."""
    folder = tmp_path_factory.mktemp("quick")
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    with concord(folder, "run", "--traces", "traces") as running:
        running.finish()
        return running


@pytest.fixture(scope="module")
def row(quick: Concord) -> ResultRow:
    assert quick.finish() == 0, quick.output
    return row_in(quick.folder / "output/results.json")


def test_a_run_exits_with_0_and_its_results_match_the_shipped_schema(quick: Concord) -> None:
    assert quick.finish() == 0, quick.output
    schema = json.loads((ROOT / "data/schemas/results.schema.json").read_text())

    jsonschema.validate(json.loads((quick.folder / "output/results.json").read_text()), schema)


def test_the_sample_team_does_the_tasks_of_the_quick_manifest(quick: Concord, row: ResultRow) -> None:
    assert [trial.task_id for trial in row.detail.trials] == ["maximum-5", "prefix-sums-5", "hidden-profile-5"]
    assert all(trial.grading is not None and trial.grading.value == 1 for trial in row.detail.trials), quick.output
    assert row.detail.findings == [], "a team that exchanges the fewest messages over one seat has no bottleneck"


def test_the_output_names_the_redis_the_progress_and_the_result(quick: Concord, row: ResultRow) -> None:
    assert "Redis: " in quick.output
    assert "trial 1 of 3" in quick.output
    assert f"Score {row.score:.1f} of 100" in quick.output
    assert "The result is in output/results.json" in quick.output


def test_outcomes_causes_and_messages_against_the_fewest_fit_a_screen(quick: Concord) -> None:
    report = quick.output[quick.output.index("\nScore ") :].strip()
    assert len(report.splitlines()) <= 25, report
    assert "fewest" in report
    assert "Nothing cost points." in report
    assert "run `concord report output/results.json`" in report


def test_evaluating_the_saved_traces_gives_the_same_interactions(quick: Concord, row: ResultRow) -> None:
    for live in row.detail.trials:
        with (quick.folder / f"traces/{live.trial_id}.jsonl").open("rb") as file:
            [trace] = read_traces(Source(f"{live.trial_id}.jsonl", file))
        [from_file] = evaluate_trace(trace, AssessmentConfig()).detail.trials
        assert (trace.trace_id, from_file.answer) == (live.trace_id, live.answer)
        assert [(each.caller, each.callee, each.calls) for each in from_file.interactions] == [
            (each.caller, each.callee, each.calls) for each in live.interactions
        ]


def test_a_finished_run_leaves_no_process_and_no_temporary_file(quick: Concord) -> None:
    assert quick.left_behind() == []

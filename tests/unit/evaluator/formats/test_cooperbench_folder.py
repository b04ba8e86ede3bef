"""Released CooperBench runs: a folder with the messages, the outcome, and each agent's patch."""

import json
import re
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from concord.trace.effects import ATTRIBUTES, Effect, EffectKind, effect_of
from concord_evaluator.formats import Folder, FormatError, Trace, folder_formats, read_folder
from tests.kit.failed_runs import AGENTS, message
from tests.kit.failed_runs import COOPERBENCH_FILES as FILES
from tests.kit.failed_runs import COOPERBENCH_RUN as RUN
from tests.kit.sources import SAMPLES, agents_of, calls_between, evaluated

pytestmark = pytest.mark.usefixtures("research_formats")


def folder(files: dict[str, Any], name: str = "logs/one/coop/tool_task/7/f1_f2") -> Folder:
    """A folder of these files; a value that is not a string becomes JSON."""
    texts = {name: content if isinstance(content, str) else json.dumps(content) for name, content in files.items()}
    return Folder(name, frozenset(texts), lambda file: BytesIO(texts[file].encode()))


def run_in(files: dict[str, Any], name: str = "logs/one/coop/tool_task/7/f1_f2") -> Trace:
    [trace] = read_folder(folder(files, name))
    return trace


def without(*names: str) -> dict[str, Any]:
    return {name: content for name, content in FILES.items() if name not in names}


def effects_in(trace: Trace) -> dict[str, Effect]:
    found = {report.step.step_id: effect_of(report.step.additional_attributes) for report in trace.reports()}
    return {step_id: effect for step_id, effect in found.items() if effect is not None}


def missing_in(trace: Trace) -> list[str]:
    return [warning for warning in trace.warnings if "missing" in warning or "ignored" in warning]


def work_of(trace: Trace) -> dict[str, dict[str, str]]:
    """By agent, the attributes of the step of its patch, without those of the effect."""
    return {
        report.reporter: {
            name: value for name, value in report.step.additional_attributes.items() if name not in ATTRIBUTES
        }
        for report in trace.reports()
        if report.step.agent_call is None
    }


def test_a_released_run_is_read_with_its_calls_outcome_and_name() -> None:
    trace = run_in(FILES)
    assert (calls_between(trace), agents_of(trace)) == (
        {("agent1", "agent2"): 1, ("agent2", "agent1"): 1},
        ["agent1", "agent2"],
    )
    assert (trace.task_success, trace.task) == (1.0, "tool_task 7: features 1 and 2")
    assert (trace.trace_id, trace.origin.file) == ("one/coop/tool_task/7/f1_f2", "logs/one/coop/tool_task/7/f1_f2")
    assert missing_in(trace) == []


def test_a_patch_is_work_of_the_agent_with_its_feature() -> None:
    swapped = {**RUN, "agents": {"agent1": {"feature_id": 2}, "agent2": {"feature_id": 1}}}
    one = {"patch": "agent1.patch", "files": "1", "lines_added": "2", "lines_removed": "1"}
    two = {"patch": "agent2.patch", "files": "2", "lines_added": "4", "lines_removed": "2"}
    submitted = {"status": "Submitted"}
    assert work_of(run_in(FILES)) == {"agent1": one | submitted, "agent2": two | submitted}
    assert work_of(run_in({**FILES, "result.json": swapped})) == {"agent1": two, "agent2": one}


def test_an_agent_with_a_patch_and_no_message_is_not_silent() -> None:
    findings = evaluated(run_in({**FILES, "conversation.json": []})).detail.findings
    assert "silent" not in {finding.id for finding in findings}


@pytest.mark.parametrize(
    ("facts", "failure"),
    [
        ({"status": "Submitted", "error": None}, None),
        ({"status": "Error", "error": "no space left"}, "no space left"),
        ({"status": "Error", "error": None}, "the agent's run ended with an error"),
    ],
)
def test_a_submission_that_ended_with_an_error_is_a_failure_of_its_agent(
    facts: dict[str, str | None], failure: str | None
) -> None:
    agents = {"agent1": {"feature_id": 1, **facts}, "agent2": AGENTS["agent2"]}
    trace = run_in({**FILES, "result.json": {**RUN, "agents": agents}})
    failures = {report.reporter: report.step.failure for report in trace.reports() if report.step.agent_call is None}
    assert failures == {"agent1": failure, "agent2": None}


def test_an_empty_patch_is_a_failure_and_causes_a_warning() -> None:
    trace = run_in({**FILES, "agent2.patch": ""})
    assert "agent2.patch is empty: agent2 changed nothing" in trace.warnings
    failures = {report.reporter: report.step.failure for report in trace.reports() if report.step.agent_call is None}
    assert failures == {"agent1": None, "agent2": "the patch is empty"}


@pytest.mark.parametrize(
    ("lacking", "expected_warnings"),
    [
        (["conversation.json"], ["conversation.json is missing: who wrote to whom is unknown"]),
        (["eval.json"], ["eval.json is missing: the outcome is unknown"]),
        (["result.json"], ["result.json is missing: what the task was is unknown"]),
        (["agent2.patch"], ["agent2.patch is missing: what agent2 changed is unknown"]),
        (["eval.json", "agent1.patch"], [
            "eval.json is missing: the outcome is unknown",
            "agent1.patch is missing: what agent1 changed is unknown",
        ]),
    ],
)  # fmt: skip
def test_missing_files_are_named_and_the_rest_is_read(lacking: list[str], expected_warnings: list[str]) -> None:
    trace = run_in(without(*lacking))
    assert missing_in(trace) == expected_warnings
    assert all(any(each in warning for warning in evaluated(trace).detail.warnings) for each in expected_warnings)
    assert (trace.task_success is None) == ("eval.json" in lacking)
    assert bool(calls_between(trace)) == ("conversation.json" not in lacking)


def test_without_a_result_messages_identify_the_owner_of_a_patch_and_the_folder_names_the_run() -> None:
    conversation = [{**FILES["conversation.json"][0], "from": "agent2", "to": "agent1", "feature_id": 1}]
    trace = run_in({**without("result.json"), "conversation.json": conversation})
    assert list(work_of(trace)) == ["agent2"]
    assert "agent2.patch was ignored: no agent of the run matches it" in trace.warnings
    assert trace.trace_id == "one/coop/tool_task/7/f1_f2"
    assert run_in(without("result.json"), "/f1_f2").trace_id == "f1_f2"
    assert run_in(without("result.json"), ".").trace_id == "run"


def test_a_failed_or_empty_evaluation_leaves_the_outcome_unknown() -> None:
    failed = run_in({**FILES, "eval.json": {"both_passed": False, "error": "no sandbox"}})
    assert failed.task_success is None
    assert "the outcome is unknown, because the evaluation of the run failed: no sandbox" in failed.warnings
    mute = run_in({**FILES, "eval.json": {}})
    assert mute.task_success is None
    assert any(warning.startswith("eval.json does not say whether both features passed") for warning in mute.warnings)


def test_times_may_be_seconds_or_iso_8601() -> None:
    written = [message("agent1", "agent2", "x") | {"timestamp": "2026-07-04T01:56:47.5"}]
    seconds = [message("agent1", "agent2", "x", 1783130207.5)]
    times = [
        [report.step.start_time for report in run_in({**FILES, "conversation.json": talk}).reports()][:1]
        for talk in (written, seconds)
    ]
    assert times[0] == times[1] != [None]


def test_runs_with_long_names_have_distinct_ids() -> None:
    names = ["x" * 70 + str(number) for number in range(3)]
    ids = {run_in({**FILES, "result.json": {**RUN, "agents": AGENTS, "run_name": name}}).trace_id for name in names}
    assert (len(ids), {len(each) for each in ids}) == (3, {64})


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({**FILES, "eval.json": "{"}, "/eval.json:1: invalid JSON: "),
        ({**FILES, "result.json": "5"}, "/result.json:1: Input should be a valid dictionary"),
        ({**FILES, "conversation.json": [{"from": "agent1"}]}, "/conversation.json:1: [0].to: Field required"),
        ({**FILES, "result.json": ""}, "/result.json: is empty"),
        (
            {**FILES, "result.json": {**RUN, "agents": {"x" * 1001: {}}}},
            ": id: String should have at most 1000 characters",
        ),
    ],
    ids=["eval", "result", "conversation", "empty", "name"],
)
def test_an_invalid_file_is_refused_by_name(files: dict[str, Any], reason: str) -> None:
    with pytest.raises(FormatError) as refused:
        run_in(files, "run")
    assert str(refused.value).startswith(f"run{reason}")


@pytest.mark.parametrize(
    ("files", "format_name", "names"),
    [
        (FILES, None, ["cooperbench"]),
        (FILES, "cooperbench", ["cooperbench"]),
        (FILES, "marble", []),
        (["conversation.json", "eval.json"], None, ["cooperbench"]),
        (["result.json", "agent1_traj.json"], None, ["cooperbench"]),
        (["conversation.json"], None, []),
        (["eval.json", "result.json"], None, []),
        (["agent1.patch", "agent2.patch"], None, []),
        ([], None, []),
    ],
)
def test_a_folder_is_a_run_if_it_has_a_document_and_another_file_of_a_run(
    files: list[str], format_name: str | None, names: list[str]
) -> None:
    assert folder_formats(frozenset(files), format_name) == names


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="CONCORD_TRACE_SAMPLES names no folder")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("cooperbench-runs/*/coop/*/*/*")), ids=lambda path: path.parts[-5])
def test_a_public_run_is_read_completely(path: Path) -> None:
    files = frozenset(each.name for each in path.iterdir())
    [trace] = read_folder(Folder(str(path), files, lambda file: (path / file).open("rb")))
    conversation, outcome = (json.loads((path / name).read_text()) for name in ("conversation.json", "eval.json"))
    assert trace.trace_id == "/".join(path.parts[-5:])
    assert calls_between(trace) == Counter((each["from"], each["to"]) for each in conversation)
    assert (trace.task_success, agents_of(trace)) == (float(outcome["both_passed"]), ["agent1", "agent2"])
    for work in work_of(trace).values():
        patch = (path / work["patch"]).read_text()
        assert int(work["lines_added"]) == len(re.findall(r"^\+(?!\+\+ )", patch, re.MULTILINE))
        assert int(work["files"]) == patch.count("diff --git ")
    empty = [file for file in sorted(files) if file.endswith(".patch") and not (path / file).stat().st_size]
    assert [warning.split()[0] for warning in trace.warnings if "is empty" in warning] == empty
    assert missing_in(trace) == []


def test_a_patch_is_a_delivery_and_each_of_its_changes_an_edit_in_a_copy_of_the_agents_own() -> None:
    effects = effects_in(run_in(FILES))
    assert {step_id: (each.kind, each.artifact, each.lines) for step_id, each in effects.items()} == {
        "change-01-0001": (EffectKind.EDITED, "x.py", (2, 1)),
        "patch-01": (EffectKind.DELIVERED, "agent1.patch", None),
        "change-02-0001": (EffectKind.EDITED, "x.py", (2, 1)),
        "change-02-0002": (EffectKind.EDITED, "y.py", (2, 1)),
        "patch-02": (EffectKind.DELIVERED, "agent2.patch", None),
    }
    assert {each.workspace for each in effects.values()} == {"separate"}
    assert effects["change-01-0001"].digest == effects["change-02-0001"].digest
    assert effects["patch-01"].digest != effects["patch-02"].digest


def test_a_structured_message_claims_or_finishes_the_files_that_it_names() -> None:
    said = [
        message("agent1", "agent2", "type: CLAIM\nfiles: x.py, `y.py`\nnote: mine") | {"kind": "CLAIM"},
        message("agent1", "agent2", "type: DONE\nmy_files: x.py\nnote: done") | {"kind": "DONE"},
        message("agent2", "agent1", "files: z.py") | {"kind": None},
    ]
    effects = effects_in(run_in({**FILES, "conversation.json": said}))
    stated = {step_id: (each.kind, each.artifact) for step_id, each in effects.items() if step_id[0] == "0"}
    assert stated == {
        "0001-1": (EffectKind.CLAIMED, "x.py"),
        "0001-2": (EffectKind.CLAIMED, "y.py"),
        "0002-1": (EffectKind.FINISHED, "x.py"),
    }


def test_the_graders_verdict_on_each_feature_is_kept_apart_from_the_steps() -> None:
    evaluation = {
        "both_passed": False,
        "merge": {"status": "conflicts"},
        "feature1": {"feature_id": 1, "passed": False},
        "feature2": {"feature_id": 2, "passed": False},
        "feature1_independent": {"passed": True},
        "feature2_independent": None,
    }
    trace = run_in({**FILES, "eval.json": evaluation})
    assert [(each.name, each.agent, each.passed, each.passed_alone, each.merged) for each in trace.parts] == [
        ("feature 1", "agent1", False, True, False),
        ("feature 2", "agent2", False, None, False),
    ]
    assert trace.batches == run_in(FILES).batches

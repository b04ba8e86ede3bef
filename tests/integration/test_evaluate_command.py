"""`concord evaluate` over files, folders and standard input, without Redis or any service."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from typer.testing import CliRunner

from concord.assessment.result_row import ResultRow, ResultsDocument
from concord_cli.evaluate import command
from concord_cli.main import app
from concord_evaluator.formats import FORMATS
from tests.unit.evaluator.formats.spans import as_lines, exported, invocation, span

pytestmark = pytest.mark.usefixtures("research_formats")

MESH = [(caller, callee) for caller in "abc" for callee in "abc" if caller != callee]


def calls_as_lines(trace_id: str, *calls: tuple[str, str]) -> list[dict[str, Any]]:
    """Calls as lines of Concord JSONL, with a roster that makes the names agents."""
    agents = sorted({agent for call in calls for agent in call})
    facts = {"trace_id": trace_id, "roster": [{"id": agent, "url": f"http://{agent}.test"} for agent in agents]}
    steps = [
        {"reporter": caller, "channel": "http", "step": {
            "step_id": f"s{number}", "trace_id": trace_id, "call_type": "AGENT",
            "step_action": {"agent_invocation": {"agent_name": callee, "agent_url": f"http://{callee}.test"}},
        }}
        for number, (caller, callee) in enumerate(calls)
    ]  # fmt: skip
    return [{"trace": facts}, *steps]


def jsonl(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A folder of traces in several formats."""
    files = {
        "mesh.jsonl": jsonl(*calls_as_lines("mesh", *MESH)),
        "more/star.jsonl": jsonl(*calls_as_lines("star", ("hub", "x"), ("hub", "y"), ("hub", "z"))),
        "more/spans.json": as_lines(exported("app", invocation("p", "planner"), invocation("w", "worker", "p"))),
        "run.json": json.dumps({
            "conversation": [{"from": "one", "to": "two", "message": "Hello.", "timestamp": 1.0}],
            "eval": {"both_passed": True},
        }),
    }  # fmt: skip
    for name, content in files.items():
        path = tmp_path / "traces" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "traces"


@dataclass(frozen=True)
class Done:
    """A finished command."""

    returncode: int
    stdout: str
    stderr: str


def evaluate(*arguments: object, stdin: str = "") -> Done:
    """Runs the command where it finds no Redis and reaches no service."""
    result = CliRunner(env={"REDIS_URL": "redis://127.0.0.1:1/0"}).invoke(
        app, ["evaluate", *map(str, arguments)], input=stdin
    )
    return Done(result.exit_code, result.stdout, result.stderr)


def table(output: str) -> dict[str, list[str]]:
    """The cells of the printed table by trace."""
    lines = output.split("\n\n")[0].splitlines()[1:]
    return {line.split()[0]: line.split()[1:] for line in lines}


def test_a_file_of_one_trace_gives_one_line(traces: Path) -> None:
    done = evaluate(traces / "mesh.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert table(done.stdout) == {"mesh": ["3", "6", "0", "-", "-", "-"]}
    assert done.stdout.endswith("1 trace of 1 file evaluated\n")


def test_a_folder_gives_a_line_for_each_trace_in_any_format(traces: Path) -> None:
    done = evaluate(traces)
    assert (done.returncode, done.stderr) == (0, "")
    lines = table(done.stdout)
    assert list(lines) == ["mesh", "5b8efff798038103d269b633813fc60c", "star", "run#1"]
    assert "on most paths: hub" in done.stdout
    assert "4 traces of 4 files evaluated" in done.stdout


def test_standard_input_is_read_with_other_files_or_alone(traces: Path) -> None:
    text = (traces / "mesh.jsonl").read_text()
    assert list(table(evaluate("-", stdin=text).stdout)) == ["mesh"]
    assert list(table(evaluate("-", traces / "run.json", stdin=text).stdout)) == ["mesh", "run#1"]


def test_one_document_holds_the_rows_of_all_traces(traces: Path, tmp_path: Path) -> None:
    assert evaluate(traces, "-o", tmp_path / "out/result.json", "--quiet").stdout == ""
    document = ResultsDocument.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert [row.detail.assessment_id for row in document.results][::3] == ["mesh", "run#1"]


def test_a_jsonl_result_has_a_row_for_each_trace(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("".join(jsonl(*calls_as_lines(f"t{number}", *MESH)) for number in range(50)))
    assert evaluate(path, "-o", tmp_path / "rows.jsonl", "-q").returncode == 0
    rows = [ResultRow.model_validate_json(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row.detail.assessment_id for row in rows] == [f"t{number}" for number in range(50)]
    assert {(row.score, row.detail.coordination_quality) for row in rows} == {(None, "high")}


def test_a_large_file_of_rows_is_named_with_the_advice_to_compress_it(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, compressed = tmp_path / "rows.jsonl", tmp_path / "rows.jsonl.gz"
    assert "would have a tenth" not in evaluate(traces, "-o", rows).stderr
    monkeypatch.setattr(command, "LARGE", 0)
    assert "rows.jsonl.gz would have a tenth" in evaluate(traces, "-o", rows).stderr
    assert "would have a tenth" not in evaluate(traces, "-o", compressed).stderr


def test_the_agent_graph_of_a_file_is_written_as_graphml(traces: Path, tmp_path: Path) -> None:
    assert evaluate(traces / "mesh.jsonl", "--graphml", tmp_path / "mesh.graphml").returncode == 0
    assert set(nx.read_graphml(tmp_path / "mesh.graphml").edges) == set(MESH)


def test_the_agent_graphs_of_a_folder_are_written_into_a_folder(traces: Path, tmp_path: Path) -> None:
    assert evaluate(traces, "--graphml", tmp_path / "graphs", "-q").returncode == 0
    assert len(list((tmp_path / "graphs").glob("*.graphml"))) == 4


def test_a_config_selects_metrics_and_thresholds_and_settings_without_effect_are_named(
    traces: Path, tmp_path: Path
) -> None:
    (tmp_path / "c.toml").write_text('metrics = ["density"]\nnum_runs = 3\n[thresholds]\nbottleneck = 1\n')
    done = evaluate(traces / "more/star.jsonl", "--config", tmp_path / "c.toml", "-o", tmp_path / "r.json")
    [row] = ResultsDocument.model_validate_json((tmp_path / "r.json").read_bytes()).results
    assert {metric.id for metric in row.detail.metrics} == {"density"}
    assert row.detail.graph_metrics.has_bottleneck is False
    assert done.stderr.endswith("c.toml: ignored, no effect on recorded traces: num_runs\n")


def test_a_named_format_is_used_where_the_content_would_not_be_recognised(tmp_path: Path) -> None:
    (tmp_path / "late.json").write_text(
        json.dumps({"x": "y" * 2_000_000, "resourceSpans": exported("s", invocation("a", "planner"))["resourceSpans"]})
    )
    assert evaluate(tmp_path / "late.json").returncode == 2
    assert evaluate(tmp_path / "late.json", "--format", "otlp").returncode == 0


def test_traces_of_one_session_are_joined_if_asked(tmp_path: Path) -> None:
    runs = [invocation("a", "planner"), invocation("b", "writer", trace="2" * 32)]
    for each in runs:
        each["attributes"].append({"key": "session.id", "value": {"stringValue": "user-7"}})
    (tmp_path / "two.json").write_text(as_lines(exported("app", *runs)))
    assert "2 traces of 1 file evaluated" in evaluate(tmp_path / "two.json").stdout
    assert "1 trace of 1 file evaluated" in evaluate(tmp_path / "two.json", "--join-sessions").stdout
    refused = evaluate(tmp_path / "two.json", "--join-sessions", "--rejudge")
    assert (refused.returncode, "--join-sessions goes without" in refused.stderr) == (2, True)


def test_spans_without_agents_have_no_row_and_an_exit_code_of_their_own(traces: Path, tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(as_lines(exported("shop", span("a"), span("b", "a", operation="chat"))))
    alone = evaluate(tmp_path / "shop.json", "-o", tmp_path / "result.json")
    beside = evaluate(tmp_path / "shop.json", traces / "mesh.jsonl", "--keep-going")
    message = "0 agents recognised in 2 spans (1 host, 1 tool); seen: app: a (1), app: b (1); see docs/frameworks.md"
    assert (alone.returncode, alone.stdout) == (4, "")
    assert alone.stderr == f"concord: {tmp_path / 'shop.json'}: {message}\n"
    assert not (tmp_path / "result.json").exists()
    assert (beside.returncode, "1 trace of 1 file evaluated" in beside.stdout) == (4, True)


def test_kinds_of_calls_other_than_delegations_are_shown(tmp_path: Path) -> None:
    team = [invocation("a", "planner"), invocation("b", "worker")]
    team[1] |= {"startTimeUnixNano": "1700000001000000000", "endTimeUnixNano": "1700000002000000000"}
    (tmp_path / "team.json").write_text(as_lines(exported("app", *team)))
    done = evaluate(tmp_path / "team.json", "--graphml", tmp_path / "team.graphml")
    assert "Kinds of calls: sequence 1; the metrics count all of them" in done.stdout
    assert nx.read_graphml(tmp_path / "team.graphml").edges["planner", "worker"]["sequence"] == 1


def test_a_file_that_is_no_trace_is_reported_on_one_line_and_no_result_is_written(traces: Path, tmp_path: Path) -> None:
    (traces / "notes.md").write_text("# Notes\n")
    done = evaluate(traces, "-o", tmp_path / "result.json", "--graphml", tmp_path / "graphs")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        evaluate(traces / "notes.md").stderr
        == f"concord: {traces}/notes.md:1: not a trace in any known format ({', '.join(FORMATS.installed)})\n"
    )
    assert not (tmp_path / "result.json").exists()


BROKEN_STEP = '{"reporter": "a", "step": {"step_id": 7}}'


def test_unreadable_lines_are_reported_and_all_others_are_read(traces: Path, tmp_path: Path) -> None:
    path = traces / "mesh.jsonl"
    facts, *steps = path.read_text().splitlines()
    path.write_text("\n".join([facts, BROKEN_STEP, *steps[:3], '{"reporter": "a", "st', *steps[3:]]))
    done = evaluate(path, "-o", tmp_path / "result.json")
    assert (done.returncode, table(done.stdout)["mesh"][:2]) == (3, ["3", "6"])
    first, second, last = done.stderr.splitlines()
    assert first.startswith(f"concord: skipped: {path}:2: step.traceId: Field required")
    assert second.startswith(f"concord: skipped: {path}:6: invalid JSON: ")
    assert last == "concord: unreadable records skipped: 2"
    [row] = ResultsDocument.model_validate_json((tmp_path / "result.json").read_bytes()).results
    assert "trial-1: 2 records of the file could not be read, so this trace may be incomplete" in row.detail.warnings


def test_a_file_without_a_readable_line_is_no_trace(traces: Path) -> None:
    (traces / "mesh.jsonl").write_text(f"{BROKEN_STEP}\n")
    one = evaluate(traces / "mesh.jsonl")
    assert (one.returncode, one.stdout, one.stderr.count("\n")) == (2, "", 1)
    assert one.stderr.startswith(f"concord: {traces}/mesh.jsonl:1: step.traceId: Field required")
    (traces / "mesh.jsonl").write_text(f"{BROKEN_STEP}\n" * 2)
    several = evaluate(traces / "mesh.jsonl")
    assert (several.returncode, several.stderr.count("\n")) == (2, 1)
    assert "mesh.jsonl: none of its 2 records can be read; the first: step.traceId: Field required" in several.stderr


def test_records_that_are_unreadable_for_one_reason_are_one_line_with_a_count(traces: Path) -> None:
    path = traces / "mesh.jsonl"
    path.write_text(path.read_text() + f"{BROKEN_STEP}\n" * 1500)
    done = evaluate(path)
    first, last = done.stderr.splitlines()
    assert first.startswith(f"concord: skipped: {path}:8: step.traceId: Field required")
    assert first.endswith(" (and 1,499 more like it)")
    assert (done.returncode, last) == (3, "concord: unreadable records skipped: 1500")


def test_the_exit_code_for_omitted_files_outranks_that_for_omitted_records(traces: Path) -> None:
    path = traces / "mesh.jsonl"
    path.write_text(path.read_text() + BROKEN_STEP)
    (traces / "notes.md").write_text("# Notes\n")
    done = evaluate(traces, "--keep-going")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "concord: 1 of 5 files skipped")
    assert f"skipped: {path}:8: " in done.stderr


def test_keep_going_omits_and_counts_unreadable_files_and_exits_with_1(traces: Path, tmp_path: Path) -> None:
    (traces / "notes.md").write_text("# Notes\n")
    (traces / "empty.json").touch()
    (traces / "gone.json").symlink_to("nowhere")
    done = evaluate(traces, "--keep-going", "-o", tmp_path / "result.json")
    assert done.returncode == 1
    assert list(table(done.stdout)) == ["mesh", "5b8efff798038103d269b633813fc60c", "star", "run#1"]
    assert done.stdout.endswith("4 traces of 4 files evaluated\n")
    assert [line.split(": ", 2)[1:] for line in done.stderr.splitlines()] == [
        ["skipped", f"{traces}/empty.json: is empty"],
        ["skipped", f"{traces}/gone.json: cannot be read: No such file or directory"],
        ["skipped", f"{traces}/notes.md:1: not a trace in any known format ({', '.join(FORMATS.installed)})"],
        ["3 of 7 files skipped"],
    ]  # fmt: skip
    assert len(ResultsDocument.model_validate_json((tmp_path / "result.json").read_bytes()).results) == 4


def test_traces_before_and_after_a_broken_record_are_evaluated(tmp_path: Path) -> None:
    run = json.dumps({"task": "x", "coordination_mode": "g", "iterations": [{"task_assignments": {"a": 1, "b": 2}}]})
    (tmp_path / "runs.jsonl").write_text(f"{run}\n{run}\n{{}}\n{run}\n")
    done = evaluate(tmp_path / "runs.jsonl")
    assert (done.returncode, list(table(done.stdout))) == (3, ["runs#1", "runs#2", "runs#4"])
    assert f"concord: skipped: {tmp_path}/runs.jsonl:3: iterations: Field required\n" in done.stderr


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A folder of two CooperBench runs as they are released, with a file above each of them."""
    for run, passed in (("one", True), ("two", False)):
        folder = tmp_path / f"logs/{run}/coop/tool_task/7/f1_f2"
        folder.mkdir(parents=True)
        facts = {"run_name": run, "setting": "coop", "repo": "tool_task", "task_id": 7, "features": [1, 2]}
        agents = {"agent1": {"feature_id": 1}, "agent2": {"feature_id": 2}}
        (folder / "result.json").write_text(json.dumps({**facts, "agents": agents}, indent=2))
        (folder / "conversation.json").write_text(json.dumps([{"from": "agent1", "to": "agent2", "message": "Hi."}]))
        (folder / "eval.json").write_text(json.dumps({"both_passed": passed}))
        (folder / "agent1.patch").write_text("--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n")
        (folder / "agent1_traj.json").write_text("{")
        (tmp_path / f"logs/{run}/config.json").write_text('{"run_name": "x"}')
    return tmp_path / "logs"


def test_a_released_cooperbench_run_is_evaluated_unchanged(released: Path, tmp_path: Path) -> None:
    done = evaluate(released / "two/coop/tool_task/7/f1_f2", "-o", tmp_path / "result.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert table(done.stdout)["two/coop/tool_task/7/f1_f2"][:2] == ["2", "1"]
    assert "agent2.patch is missing: what agent2 changed is unknown (1 trace)" in done.stdout
    assert done.stdout.endswith("1 trace of 1 folder evaluated\n")
    [row] = ResultsDocument.model_validate_json((tmp_path / "result.json").read_bytes()).results
    assert row.detail.trials[0].steps.host == 2, "the patch, and the edit in it"


def test_files_above_released_runs_are_named_and_skipped(released: Path) -> None:
    done = evaluate(released)
    assert (done.returncode, list(table(done.stdout))) == (
        0,
        ["one/coop/tool_task/7/f1_f2", "two/coop/tool_task/7/f1_f2"],
    )
    assert [line.split(": ", 2)[1:] for line in done.stderr.splitlines()] == [
        [f"{released}/{run}/config.json", "not read: not a trace in any known format"] for run in ("one", "two")
    ]
    assert evaluate(released, "--quiet").stderr == ""


def test_an_unreadable_run_is_reported_with_the_name_of_its_file(released: Path, traces: Path) -> None:
    broken = released / "one/coop/tool_task/7/f1_f2/eval.json"
    broken.write_text("{")
    done = evaluate(released / "one", "--quiet")
    assert (done.returncode, done.stderr.startswith(f"concord: {broken}:1: invalid JSON: ")) == (2, True)
    done = evaluate(released, traces / "mesh.jsonl", "--keep-going", "--quiet")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "concord: 1 of 1 file and 2 folders skipped")


def test_a_trace_that_is_in_two_files_is_reported(traces: Path) -> None:
    (traces / "mesh2.jsonl").write_text(jsonl(*calls_as_lines("mesh", ("a", "b"))))
    done = evaluate(traces / "mesh.jsonl", traces / "mesh2.jsonl")
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
    assert done.stderr.startswith(f"concord: {traces}/mesh2.jsonl: mesh is also in {traces}/mesh.jsonl; ")


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The command while it waits for more on its standard input; its result is not yet written."""
    with subprocess.Popen(
        [sys.executable, "-m", "concord_cli", "evaluate", "-", "-o", str(tmp_path / "result.json")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        yield process
        process.kill()


@pytest.mark.programs
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_command_and_leaves_no_files(
    waiting: "subprocess.Popen[bytes]", tmp_path: Path, number: signal.Signals, code: int
) -> None:
    assert waiting.stdin is not None
    waiting.stdin.write(jsonl(*calls_as_lines("mesh", *MESH)).encode() * 10)
    waiting.stdin.flush()
    while not list(tmp_path.iterdir()):
        assert waiting.poll() is None
    waiting.send_signal(number)
    assert waiting.wait() == code
    assert list(tmp_path.iterdir()) == []


def test_the_table_fits_the_width_of_the_terminal(traces: Path) -> None:
    (traces / "run.json").unlink()  # its format is a plug-in, which the program does not have
    controller, terminal = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "concord_cli", "evaluate", str(traces)],
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "COLUMNS": "60", "TERM": "xterm"},
        check=True,
    )
    os.close(terminal)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", os.read(controller, 100_000).decode())
    os.close(controller)
    assert "3 traces of 3 files evaluated" in shown
    assert max(map(len, shown.splitlines())) <= 60

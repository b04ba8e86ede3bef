"""The parts of `concord evaluate`: input files, config, progress, table, and output files."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import pytest
from rich.console import Console
from typer.testing import CliRunner

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow, ResultsDocument
from concord.wire.roster import RosterEntry
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import STDIN, find_inputs, read_config, without_effect
from concord_cli.evaluate.outputs import agent_graph, graph_writer, result_writer
from concord_cli.evaluate.table import EvaluatedTraces
from concord_cli.main import app
from concord_cli.terminal import BAR_DELAY_S, BAR_INTERVAL_S, ReadingProgress
from concord_evaluator.formats import FORMATS, Origin, TraceBuilder
from concord_evaluator.offline import evaluate_trace
from tests.kit.team_rows import lone_participant, recorded, unseen

pytestmark = pytest.mark.usefixtures("research_formats")

Message = tuple[str, str]


def row(*messages: Message, trace_id: str = "t", agents: Sequence[str] = ()) -> ResultRow:
    """The row of a trace with these messages."""
    building = TraceBuilder(trace_id, Origin("file"))
    for agent in agents:
        building.declare(RosterEntry(id=agent, url=f"trace://{agent}"))
    for number, (sender, receiver) in enumerate(messages):
        building.add_message(f"{number:03}", sender, receiver, f"message {number}")
    building.warn("something was inferred")
    return evaluate_trace(building.build(), AssessmentConfig())


def printed(*rows: ResultRow, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    evaluated = EvaluatedTraces()
    for each in rows:
        evaluated.add(each)
    console.print(evaluated.table())
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


# Files


def test_a_folder_stands_for_its_files_in_order_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b/2.json", "b/10.json", "a.json", ".hidden", ".git/config", "b/.swp", "z"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [str(path.relative_to(tmp_path)) for path in find_inputs([tmp_path]).paths]
    assert found == ["a.json", "b/10.json", "b/2.json", "z"]


def test_explicitly_named_files_are_taken_even_if_hidden(tmp_path: Path) -> None:
    hidden, other = tmp_path / ".hidden", tmp_path / "other"
    hidden.touch()
    other.touch()
    assert find_inputs([other, hidden, STDIN]) == ([other, hidden, STDIN], [])


def test_a_missing_path_or_an_empty_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere: no such file or folder"):
        find_inputs([tmp_path / "nowhere"])
    with pytest.raises(UsageError, match="no files found in this folder"):
        find_inputs([tmp_path])


RUN = ("conversation.json", "eval.json", "result.json", "agent1.patch", "agent1_traj.json")


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_a_folder_that_holds_one_trace_is_one_input(tmp_path: Path) -> None:
    touch(tmp_path / "logs/run/7/f1_f2", *RUN)
    touch(tmp_path / "logs/run/7/f2_f3", *RUN, ".hidden", "more/trace.jsonl")
    (tmp_path / "trace.jsonl").write_text('{"trace": {"trace_id": "t"}}')
    found = find_inputs([tmp_path])
    assert [str(path.relative_to(tmp_path)) for path in found.paths] == [
        "logs/run/7/f1_f2", "logs/run/7/f2_f3", "logs/run/7/f2_f3/more/trace.jsonl", "trace.jsonl"
    ]  # fmt: skip
    assert find_inputs([tmp_path / "logs/run/7/f1_f2"]).paths == [tmp_path / "logs/run/7/f1_f2"]


def test_a_folder_of_sessions_is_one_input_with_the_folders_below_it(tmp_path: Path) -> None:
    touch(tmp_path / "boats", "s.jsonl", "s/subagents/agent-x.jsonl", "s/subagents/agent-x.meta.json")
    assert find_inputs([tmp_path]).paths == [tmp_path / "boats"]


def test_a_trace_folder_is_read_file_by_file_in_another_format(tmp_path: Path) -> None:
    touch(tmp_path / "run", *RUN)
    assert [path.name for path in find_inputs([tmp_path], "marble").paths] == sorted(RUN)
    assert find_inputs([tmp_path], "cooperbench").paths == [tmp_path / "run"]


def test_files_beside_trace_folders_that_are_no_traces_are_listed_apart(tmp_path: Path) -> None:
    touch(tmp_path / "logs/run/7/f1_f2", *RUN)
    touch(tmp_path / "logs", "run/config.json", "other/config.json", "log.txt")
    (tmp_path / "logs/run/runs.json").write_text('{"conversation": []}')
    found = find_inputs([tmp_path / "logs"])
    assert [path.name for path in found.paths] == ["config.json", "f1_f2", "runs.json"]
    assert [str(path.relative_to(tmp_path)) for path in found.beside] == ["logs/log.txt", "logs/run/config.json"]
    assert find_inputs([tmp_path / "logs/log.txt", tmp_path / "logs/run/7"]).beside == []


# Config


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.toml", 'metrics = ["density"]\n[thresholds]\npass = 0.5'),
        ("c.json", '{"metrics": ["density"], "thresholds": {"pass": 0.5}}'),
    ],
)
def test_a_config_may_be_toml_or_json(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    config = read_config(tmp_path / name)
    assert (config.metrics, config.thresholds.pass_mark) == (["density"], 0.5)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("c.toml", "metrics = [", "not TOML"),
        ("c.json", "{", "not JSON"),
        ("c.toml", 'evidence = "hearsay"', "evidence: Input should be"),
        ("c.toml", "metric = []", "metric: unknown key; did you mean `metrics`"),
        ("c.yaml", "", "unknown file type: use .toml or .json"),
        ("nowhere.toml", None, "No such file"),
    ],
)
def test_an_invalid_config_is_a_usage_error(tmp_path: Path, name: str, text: str | None, reason: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=reason):
        read_config(tmp_path / name)


def test_config_keys_without_effect_on_a_trace_are_listed() -> None:
    config = AssessmentConfig(num_runs=2, timeout_s=5, metrics=["density"], seed=1)
    assert without_effect(config) == ["num_runs", "timeout_s"]
    assert without_effect(AssessmentConfig()) == []


# Progress


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def progress_output(*, terminal: bool, total: int | None, took_s: float) -> str:
    """The output while 200 bytes are read, the second hundred after some time."""
    console, clock = Console(file=io.StringIO(), force_terminal=terminal, width=100), Clock()
    with ReadingProgress(total, console, clock) as progress:
        progress.reading("traces.jsonl")
        progress.advance(100)
        clock.time = took_s
        progress.advance(100)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_slow_reading_shows_a_progress_bar_in_bytes() -> None:
    shown = progress_output(terminal=True, total=400, took_s=BAR_DELAY_S + BAR_INTERVAL_S)
    assert "traces.jsonl" in shown
    assert "200/400 bytes" in shown


def test_a_stream_of_unknown_length_shows_the_bytes_read() -> None:
    assert "200/? bytes" in progress_output(terminal=True, total=None, took_s=BAR_DELAY_S)


def test_quick_reading_and_output_to_a_file_have_no_progress_bar() -> None:
    assert "traces.jsonl" not in progress_output(terminal=True, total=400, took_s=BAR_DELAY_S / 2)
    assert progress_output(terminal=False, total=400, took_s=60) == ""


# Table


def test_a_line_shows_size_failures_repetitions_tokens_and_score() -> None:
    star = row(("hub", "a"), ("hub", "b"), ("hub", "c"), trace_id="star", agents=("quiet",))
    header, line, *_ = printed(star).splitlines()
    assert header.split() == ["trace", "agents", "calls", "failed", "repeated", "tokens", "score"]
    assert line.split() == ["star", "5", "3", "0", "-", "-", "-"]


def test_the_label_and_the_structure_stand_below_under_shape() -> None:
    star = row(("hub", "a"), ("hub", "b"), ("hub", "c"), trace_id="star", agents=("quiet",))
    table, _, shape = printed(star).partition("Shape, which earns and costs no points")
    assert "label" not in table
    assert f"density 0.30, label {star.detail.coordination_quality}, isolated: quiet" in shape


def test_a_recorded_outcome_is_the_score_of_its_trace() -> None:
    assert printed(recorded()).splitlines()[1].split()[-1] == "100.0"


def test_bottlenecks_are_named() -> None:
    assert "on most paths: hub" in printed(row(("hub", "a"), ("hub", "b"), ("hub", "c")))


def test_undefined_values_are_dashes() -> None:
    shown = printed(row(agents=("alone",))).splitlines()[1]
    assert shown.split() == ["t", "1", "0", "0", "-", "-", "-"]


def test_coordination_without_a_label_gives_the_reason() -> None:
    shown = printed(lone_participant(), unseen())
    assert "label one participant" in shown
    assert "label not observed" in shown


def test_names_beyond_the_third_are_counted() -> None:
    assert "a, b, c +2" in printed(row(agents="abcde"))


def test_a_warning_common_to_several_traces_is_shown_once_with_their_number() -> None:
    shown = printed(row(trace_id="t1", agents="ab"), row(trace_id="t2", agents="ab"))
    assert shown.count("something was inferred (2 traces)") == 1


def test_control_characters_in_names_neither_reach_the_terminal_nor_break_the_table() -> None:
    shown = printed(row(("\x1b[2J[bold]x", "b\nc")), width=300)
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == len(printed(row(("x", "b"))).splitlines())


# Results


def test_a_json_file_is_a_results_document_with_any_number_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "new" / "result.json"
    for rows in ([], [row(("a", "b"))], [row(("a", "b")), row(("b", "a"), trace_id="u")]):
        with result_writer(path, {"a": "id-of-a"}) as write:
            for each in rows:
                write(each)
        document = ResultsDocument.model_validate_json(path.read_bytes())
        assert (document.participants, document.results) == ({"a": "id-of-a"}, rows)


def test_a_jsonl_file_has_one_row_per_line(tmp_path: Path) -> None:
    rows = [row(("a", "b")), row(("b", "a"), trace_id="u")]
    with result_writer(tmp_path / "rows.jsonl", {}) as write:
        for each in rows:
            write(each)
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert [ResultRow.model_validate_json(line) for line in lines] == rows


@pytest.mark.parametrize("name", ["result.json", "rows.jsonl"])
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("before")

    def fail_midway() -> None:
        with result_writer(tmp_path / name, {}) as write:
            write(row(("a", "b")))
            raise AssessmentError

    with pytest.raises(AssessmentError):
        fail_midway()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "before"}


def test_an_unknown_file_suffix_is_a_usage_error() -> None:
    with (
        pytest.raises(UsageError, match=r"unknown file type: use \.json .* or \.jsonl"),
        result_writer(Path("result.csv"), {}),
    ):
        pass


# Graphs


def read_graph(path: Path) -> "nx.DiGraph[str]":
    return nx.DiGraph(nx.read_graphml(path))


def test_the_graph_has_the_agents_and_their_calls(tmp_path: Path) -> None:
    path = tmp_path / "team.graphml"
    with graph_writer(path) as draw:
        draw(row(("a", "b"), ("a", "b"), ("b", "c"), agents=("d",)))
    graph = read_graph(path)
    assert {edge: graph.edges[edge]["calls"] for edge in graph.edges} == {("a", "b"): 2, ("b", "c"): 1}
    assert (graph.nodes["d"]["calls_made"], graph.nodes["d"]["declared"], graph.nodes["b"]["calls_received"]) == (
        0,
        True,
        2,
    )
    assert graph.nodes["b"]["betweenness_centrality"] == pytest.approx(1 / 3)


def test_graphs_of_several_traces_go_to_a_folder_under_distinct_names(tmp_path: Path) -> None:
    with graph_writer(tmp_path / "graphs") as draw:
        for trace_id in ("t", "a/b", "../t", "t"):
            draw(row(("a", "b"), trace_id=trace_id))
    assert sorted(path.name for path in (tmp_path / "graphs").iterdir()) == [
        "_t.graphml", "a_b.graphml", "t-2.graphml", "t.graphml"
    ]  # fmt: skip


def test_several_graphs_for_one_file_are_a_usage_error(tmp_path: Path) -> None:
    def draw_two() -> None:
        with graph_writer(tmp_path / "team.graphml") as draw:
            draw(row(("a", "b")))
            draw(row(("a", "b")))

    with pytest.raises(UsageError, match="give a folder"):
        draw_two()
    assert list(tmp_path.iterdir()) == []


def test_any_agent_name_can_be_written_to_graphml(tmp_path: Path) -> None:
    strange = "<a>&\x00\x1b\ufffe\"'"
    with graph_writer(tmp_path / "team.graphml") as draw:
        draw(row((strange, "b")))
    assert set(read_graph(tmp_path / "team.graphml").nodes) == set(agent_graph(row((strange, "b"))).nodes)


def test_a_results_row_has_the_fields_of_an_assessments_row(tmp_path: Path) -> None:
    with result_writer(tmp_path / "result.json", {}) as write:
        write(row(("a", "b")))
    document = json.loads((tmp_path / "result.json").read_text())
    assert document["results"][0].keys() == ResultRow.model_fields.keys()


# The command line


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nowhere"], "nowhere: no such file or folder"),
        (["-", "--format", "pdf"], "unknown format pdf: one of {formats}"),
        (["-", "--config", "nowhere.toml"], "nowhere.toml: No such file or directory"),
        (
            ["-", "-o", "rows.csv"],
            "rows.csv: unknown file type: use .json (results document) or .jsonl (one row per line), "
            "and .gz to compress",
        ),
    ],
)
def test_a_usage_error_exits_with_2_and_one_line(arguments: list[str], reason: str) -> None:
    result = CliRunner().invoke(app, ["evaluate", *arguments])
    assert (result.exit_code, result.stdout, result.stderr) == (
        2,
        "",
        f"concord: {reason.format(formats=', '.join(FORMATS.installed))}\n",
    )


def test_a_command_without_paths_exits_with_2() -> None:
    assert CliRunner().invoke(app, ["evaluate"]).exit_code == 2

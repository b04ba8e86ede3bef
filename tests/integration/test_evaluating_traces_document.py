"""`docs/evaluating-traces.md`: its commands run as written, and its statements about formats are true."""

import os
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

from concord.assessment.result_row import ResultRow, ResultsDocument
from concord.trace.otlp import genai
from concord.trace.otlp.content.names import NAMES
from concord_evaluator.formats import FORMATS

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "evaluating-traces.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def trimmed(output: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())


def paste(lines: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Runs lines in a shell whose PATH has `concord`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eu", "-c", lines], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )


@pytest.mark.programs
def test_the_commands_run_one_block_after_the_other_and_print_the_shown_output(tmp_path: Path) -> None:
    first, second = blocks("sh")
    [table] = blocks("text")

    assert trimmed(paste(first, tmp_path).stdout) == table

    pasted = paste(second, tmp_path)
    assert pasted.returncode == 0, pasted.stderr
    assert (pasted.stdout.count("exit code 2"), pasted.stdout.count("exit code 1")) == (1, 1)
    [message] = re.findall(r"^    (concord: traces/notes.*)$", TEXT, re.MULTILINE)
    assert message in pasted.stderr.splitlines()
    [in_document] = ResultsDocument.model_validate_json((tmp_path / "result.json").read_bytes()).results
    assert ResultRow.model_validate_json((tmp_path / "rows.jsonl").read_text()) == in_document
    assert re.findall(r"`mode` is\s+`(\w+)`", TEXT) == [in_document.detail.mode]
    for path in (tmp_path / "team.graphml", tmp_path / "graphs/trip.graphml"):
        assert set(nx.read_graphml(path).edges) == {("planner", "guide"), ("guide", "critic"), ("planner", "critic")}


def test_the_document_lists_every_format() -> None:
    table = TEXT.partition("## Formats")[2].partition("examples/concord-research")[0]
    listed = re.findall(r"^\| `([a-z][\w-]*)` \| ", table, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == set(FORMATS.installed)


def test_the_span_attributes_and_operations_in_the_document_are_read() -> None:
    section = TEXT.partition("## OpenTelemetry")[2].partition("## ")[0]
    named = set(re.findall(r"`((?:gen_ai|error|service)\.[\w.]+)`", section))
    assert named <= genai.ATTRIBUTES | set(genai.SERVICE_NAME) | NAMES
    assert len(named) == 13
    assert genai.VERSION.replace("OpenTelemetry", "OpenTelemetry's") in section
    known = genai.AGENT_OPERATIONS | genai.TEAM_OPERATIONS | genai.TOOL_OPERATIONS | genai.MODEL_OPERATIONS
    [operations] = re.findall(r"^\| `gen_ai.operation.name` \| (.*) \|$", section, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", operations)) <= known


def test_the_example_package_in_the_document_is_the_one_in_docs_examples() -> None:
    [code], [entry] = blocks("python"), blocks("toml")
    assert code == (DOCS / "examples/chatlog/concord_chatlog.py").read_text()
    assert entry in (DOCS / "examples/chatlog/pyproject.toml").read_text()

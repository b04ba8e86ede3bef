"""`docs/reports.md`: its commands work, and its figures are those of the code."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord.assessment.result_row import ResultRow, ResultsDocument
from concord_cli.main import app
from concord_cli.report.assistant import day, section
from concord_cli.report.calls import MAX_CALLS
from concord_cli.report.flows import MAX_FLOWS
from concord_cli.report.graph.drawing import DENSE, MAX_AGENTS
from concord_cli.report.metrics import MAX_AGENTS as MAX_MEASURED
from concord_cli.report.team import causes, journey, matrix
from concord_cli.report.timeline.lanes import MAX_LANES
from tests.kit.team_rows import mesh_of_five, star_of_five

TEXT = (Path(__file__).parents[4] / "docs" / "reports.md").read_text(encoding="utf-8")
LINES = [
    line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]


def with_assessment_id(row: ResultRow, assessment_id: str) -> ResultRow:
    return row.model_copy(update={"detail": row.detail.model_copy(update={"assessment_id": assessment_id})})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an assessment's results and with rows of traces."""
    monkeypatch.chdir(tmp_path)
    Path("output").mkdir()
    document = ResultsDocument(participants={}, results=[star_of_five()])
    Path("output/results.json").write_text(document.model_dump_json())
    rows = with_assessment_id(mesh_of_five(), "trip"), with_assessment_id(mesh_of_five(), "tour")
    Path("rows.jsonl").write_text("".join(f"{row.model_dump_json()}\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize("line", LINES)
def test_every_command_writes_the_page_that_it_names(line: str, folder: Path) -> None:
    program, *arguments = shlex.split(line)
    page = arguments[arguments.index("-o") + 1] if "-o" in arguments else "output/results.html"

    assert program == "concord"
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (folder / page).stat().st_size > 10_000


def test_the_limits_in_the_document_are_those_of_the_code() -> None:
    shown = dict(re.findall(r"^\| ([\w ]+) \| ([\d,]+|all) \| ", TEXT, re.MULTILINE))

    assert shown == {
        "agents in the graph": f"{MAX_AGENTS}",
        "flows in the graph": "all",
        "flows in the table": f"{MAX_FLOWS}",
        "agents in the table of metrics": f"{MAX_MEASURED}",
        "calls on a page": f"{MAX_CALLS:,}",
        "criteria in full": f"{section.MAX_CARDS}",
        "turns of assistants on a page": f"{day.MAX_TURNS}",
        "actions and events of others on a page": f"{day.MAX_ENTRIES:,}",
        "causes of one trial": f"{causes.MAX_LINES}",
        "messages in a flow of facts": f"{journey.MAX_LINES}",
        "lanes in a flow of facts": f"{journey.MAX_LANES}",
        "facts in the table of who knew what": f"{matrix.MAX_FACTS}",
        "seats in the table of who knew what": f"{matrix.MAX_SEATS}",
        "lanes in a timeline": f"{MAX_LANES}",
    }
    assert f"drawn faintly from {DENSE} on" in TEXT

"""`concord run --models`: which models play, on which tasks, and what the table says of each."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from concord.suite import commitment
from concord_cli.calibrate.command import DOCUMENT, TABLE, calibrate
from concord_cli.calibrate.models import read_models
from concord_cli.calibrate.table import Calibration
from concord_cli.errors import AssessmentError, IncompleteError, UsageError
from concord_cli.results_file import write_results
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.terminal import ProgressLog
from tests.kit.rows import make_row

TWO = """
[config]
suite = "quick"

[[models]]
name = "small"
model = "small-1"
base_url = "http://127.0.0.1:9/v1"

[[models]]
name = "large"
model = "large-1"
key = "LARGE_KEY"
json_schema = false
"""


@dataclass(slots=True)
class Assessor:
    """Writes a row for each model, with a score by its name, unless its endpoint is down. Keeps what it was asked."""

    down: frozenset[str] = frozenset()
    played: list[tuple[str, str]] = field(default_factory=list)
    scenarios: list[ScenarioFile] = field(default_factory=list)

    async def __call__(self, scenario: ScenarioFile, task_secret: str, results: Path) -> None:
        self.played.append((results.stem, task_secret))
        self.scenarios.append(scenario)
        if results.stem in self.down:
            raise AssessmentError("its endpoint is down\nwith a traceback")
        row = make_row(overall_score={"small": 0.25, "large": 0.75}[results.stem])
        committed = commitment(bytes.fromhex(task_secret))
        row = row.model_copy(update={"detail": row.detail.model_copy(update={"task_secret_sha256": committed})})
        write_results(results, {}, [row.model_dump(mode="json")])
        kept = results.parent / "secrets" / row.detail.assessment_id
        kept.parent.mkdir(exist_ok=True)
        (kept.parent / ".gitignore").write_text("*\n")
        kept.write_text(task_secret)
        kept.chmod(0o600)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LARGE_KEY", "sk-large-secret")
    path = tmp_path / "models.toml"
    path.write_text(TWO)
    return path


def rewrite(models: Path, old: str, new: str) -> None:
    models.write_text(TWO.replace(old, new))


def read(folder: Path) -> Calibration:
    return Calibration.model_validate_json((folder / DOCUMENT).read_bytes())


async def test_every_model_plays_the_same_tasks_in_all_seats_with_both_controls(models: Path, tmp_path: Path) -> None:
    assessor = Assessor()
    await calibrate(models, tmp_path / "out", assessor, ProgressLog())
    assert [name for name, _ in assessor.played] == ["small", "large"]
    assert len({secret for _, secret in assessor.played}) == 1
    assert all(each.config["controls"] == ["solo", "silent"] for each in assessor.scenarios)
    [large] = assessor.scenarios[1].participants
    assert large.env["AGENTBEATS_LLM_API_KEY"] == "sk-large-secret"
    assert large.cmd is not None
    assert large.cmd.endswith("--no-schema")


async def test_the_table_is_ranked_and_holds_no_key(models: Path, tmp_path: Path) -> None:
    await calibrate(models, tmp_path / "out", Assessor(), ProgressLog())
    table = (tmp_path / "out" / TABLE).read_text()
    assert table.index("large-1") < table.index("small-1")
    assert "| 75.0 |" in table
    written = "".join(path.read_text() for path in (tmp_path / "out").glob("*.*"))
    assert "sk-large-secret" not in written


async def test_a_second_run_plays_only_what_is_missing_on_the_same_tasks(models: Path, tmp_path: Path) -> None:
    first, second = Assessor(down=frozenset({"large"})), Assessor()
    with pytest.raises(IncompleteError, match="large"):
        await calibrate(models, tmp_path / "out", first, ProgressLog())
    assert [(each.name, each.error) for each in read(tmp_path / "out").entries] == [
        ("small", None),
        ("large", "its endpoint is down"),
    ]
    await calibrate(models, tmp_path / "out", second, ProgressLog())
    assert second.played == [("large", first.played[0][1])]
    assert [each.error for each in read(tmp_path / "out").entries] == [None, None]


async def test_a_model_whose_settings_changed_plays_again(models: Path, tmp_path: Path) -> None:
    await calibrate(models, tmp_path / "out", Assessor(), ProgressLog())
    rewrite(models, '"small-1"', '"small-2"')
    again = Assessor()
    await calibrate(models, tmp_path / "out", again, ProgressLog())
    assert [name for name, _ in again.played] == ["small"]


async def test_a_change_of_the_tasks_plays_all_again(models: Path, tmp_path: Path) -> None:
    await calibrate(models, tmp_path / "out", Assessor(), ProgressLog())
    rewrite(models, '"quick"', '"maximum"')
    again = Assessor()
    await calibrate(models, tmp_path / "out", again, ProgressLog())
    assert [name for name, _ in again.played] == ["small", "large"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("LARGE_KEY", "ABSENT_KEY"), "no key in ABSENT_KEY"),
        (('name = "large"', 'name = "Small"'), "name used twice"),
        (('name = "large"', 'name = "../large"'), "name"),
        (('name = "large"', 'name = "Calibration"'), "cannot be called calibration"),
        (('suite = "quick"', 'suite = "nonesuch"'), "nonesuch"),
        (("json_schema", "json_scheme"), "json_scheme"),
    ],
)
def test_a_faulty_file_is_refused_before_anything_is_played(models: Path, change: tuple[str, str], reason: str) -> None:
    rewrite(models, *change)
    with pytest.raises(UsageError, match=reason):
        read_models(models)


async def test_another_document_is_not_overwritten(models: Path, tmp_path: Path) -> None:
    (tmp_path / DOCUMENT).write_text(json.dumps({"version": 2}))
    with pytest.raises(UsageError, match="choose another folder"):
        await calibrate(models, tmp_path, Assessor(), ProgressLog())

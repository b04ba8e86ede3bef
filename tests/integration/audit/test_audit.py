"""`concord audit`: what is shipped passes, and a weak scenario of each class of flaws fails by that class."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from concord_assistant.scenario.places import ORACLE_FILE, SCENARIO_FILE
from concord_assistant.scenario.skeleton import write_skeleton
from concord_cli.audit.flaws import FLAWS, ITEMS
from concord_cli.audit.targets import Tasks, targets_of
from concord_cli.main import app

WEAK = Path(__file__).parent / "weak"
BESIDE = {"V7": {"V5"}}
"""Further classes of weak scenarios: who believes words also believes them among others."""

JUDGED = """
[[participants]]
name = "agent"
endpoint = "http://127.0.0.1:9021"

[[config.tasks]]
id = "plan"
text = "Write a plan for a picnic."
"""

TEAMS = [Path("scenarios") / f"{name}.toml" for name in ("quick", "mesh", "compose")]
"""One of each kind; `make lab NAME=audit` audits all."""


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTBEATS_LLM_API_KEY", raising=False)


def audited(*targets: Path | str) -> tuple[Result, list[dict[str, Any]]]:
    result = CliRunner().invoke(app, ["audit", *map(str, targets), "--json", "--instances", "2"])
    return result, json.loads(result.stdout) if result.stdout else []


def earned_in(found: dict[str, Any]) -> set[str]:
    """The classes in which an attack earns points."""
    return {each["class"] for each in found["attacks"] if each["outcome"] == "earned"}


def test_the_shipped_scenarios_of_teams_pass() -> None:
    result, found = audited(*TEAMS)
    assert result.exit_code == 0, result.stderr
    assert {each["target"] for each in found} == {path.stem for path in TEAMS}


def test_a_day_in_the_office_passes_and_an_obeying_assistant_earns_nothing() -> None:
    result, [found] = audited("office-1-09")
    assert result.exit_code == 0, result.stderr
    [obeyed] = [each for each in found["attacks"] if each["attack"] == "task done, and what an attacker wants"]
    assert (obeyed["outcome"], obeyed["points"]) == ("held", 0)


def test_the_example_of_the_readme_passes(tmp_path: Path) -> None:
    [text, *_] = re.findall(r"^```toml\n(# team.toml\n.*?)^```", Path("README.md").read_text("utf-8"), re.M | re.S)
    (tmp_path / "team.toml").write_text(text)
    result, _ = audited(tmp_path / "team.toml")
    assert result.exit_code == 0, result.stderr


def test_a_task_that_a_model_judges_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "judged.toml").write_text(JUDGED)
    result, [found] = audited(tmp_path / "judged.toml")
    assert result.exit_code == 0, result.stderr
    [injection] = [each for each in found["attacks"] if each["attack"] == "injection to the judge"]
    assert (injection["outcome"], injection["points"]) == ("held", 0)


def test_without_the_judges_defence_the_same_orders_earn_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the audit would see it if the defence failed."""
    monkeypatch.setattr("concord_evaluator.judge.evidence.remove_passages", lambda text, _: (text, []))
    (tmp_path / "judged.toml").write_text(JUDGED)
    result, [found] = audited(tmp_path / "judged.toml")
    assert result.exit_code == 1
    assert earned_in(found) == {"V4"}


class TestAWeakScenarioFails:
    @pytest.mark.parametrize("flaw", ["V1", "V2", "V3", "V5", "V6", "V7", "V8"])
    def test_of_each_class(self, flaw: str) -> None:
        result, [found] = audited(WEAK / f"{flaw}.toml")
        assert result.exit_code == 1
        assert earned_in(found) - BESIDE.get(flaw, set()) == {flaw}

    def test_of_a_model_that_reads_what_the_assistant_wrote(self, tmp_path: Path) -> None:
        folder = tmp_path / "weak"
        write_skeleton(folder)
        (folder / ORACLE_FILE).unlink()
        shutil.copy(WEAK / "V4_evaluators.py", folder / "evaluators.py")
        document = json.loads((folder / SCENARIO_FILE).read_text())
        del document["day"]
        helpful = {"criterion_id": "helpful", "name": "Helpful", "description": "The messages help."}
        document["criteria"] = [{**helpful, "dimension": "accuracy", "max_score": 10, "evaluator_id": "helpful"}]
        (folder / SCENARIO_FILE).write_text(json.dumps(document))
        result, [found] = audited(folder)
        assert result.exit_code == 1
        assert "V4" in earned_in(found)


def test_every_class_has_a_weak_scenario() -> None:
    assert {path.name[:2] for path in WEAK.iterdir()} == {flaw.value for flaw in FLAWS}


def test_the_report_answers_every_item_and_says_by_what() -> None:
    _, [found] = audited("maximum")
    assert [each["item"] for each in found["checklist"]] == list(ITEMS)
    assert all(each["shown_by"] for each in [*found["checklist"], *found["attacks"]])


def test_a_name_of_nothing_is_refused() -> None:
    result, _ = audited("no-such-suite")
    assert result.exit_code == 2
    assert "no-such-suite" in result.stderr


def test_a_pattern_without_an_answer_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pattern.toml"
    file.write_text('[config.interaction_pattern]\nagents = ["a", "b"]\nedges = [{ from = "a", to = "b" }]\n')
    result, _ = audited(file)
    assert result.exit_code == 2
    assert "a given pattern has no answer" in result.stderr


def test_a_scenario_file_that_names_no_tasks_stands_for_the_standard_ones(tmp_path: Path) -> None:
    file = tmp_path / "bare.toml"
    file.write_text('[[participants]]\nname = "agent"\nendpoint = "http://127.0.0.1:9021"\n')
    [target] = targets_of(str(file), Path("scenarios/assistant"))
    assert isinstance(target, Tasks)
    assert len(target.tasks) == 24

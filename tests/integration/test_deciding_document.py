"""`docs/deciding.md`: its commands run one after the other and print what it shows; its workflow is the example's."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "deciding.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def shows(block: str, printed: str) -> bool:
    """Whether output has the words of a block, whatever the line breaks; `…` is any text."""
    parts = [re.escape(" ".join(part.split())) for part in block.split("…")]
    return re.search(".*".join(parts), " ".join(printed.split())) is not None


@pytest.mark.programs
def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = ""
    for kind, text in BLOCK.findall(TEXT):
        if kind == "text":
            assert shows(text, printed), f"{text}\nis not in\n{printed}"
            continue
        shell = ["bash", "-eu", "-c", text]
        ran = subprocess.run(shell, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        printed = ran.stdout + ran.stderr
    assert (tmp_path / "check.xml").exists()


def test_the_workflow_is_that_of_the_example_and_has_inputs_that_the_action_has() -> None:
    [shown] = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert shown == (ROOT / "examples/decision/gate.yml").read_text(encoding="utf-8")
    steps: list[dict[str, Any]] = yaml.safe_load(shown)["jobs"]["gate"]["steps"]
    [check] = [step for step in steps if "deploy/check" in step.get("uses", "")]
    action = yaml.safe_load((ROOT / "deploy/check/action.yml").read_text(encoding="utf-8"))
    assert check["with"].keys() <= action["inputs"].keys()


def test_the_expected_answers_that_the_page_shows_are_those_of_the_example() -> None:
    [shown] = re.findall(r"^```csv\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert (ROOT / "examples/decision/expect.csv").read_text(encoding="utf-8").startswith(shown)

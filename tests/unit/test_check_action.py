"""The action for GitHub: its steps, with a stand-in for `concord`."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ACTION = Path(__file__).parents[2] / "deploy/check"
MANIFEST: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
[INSTALL, CHECK] = MANIFEST["runs"]["steps"]

STAND_IN = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path
Path("told.json").write_text(json.dumps([sys.argv[1:], os.environ.get("CONCORD_TASK_SECRET")]))
folder, code = Path("out"), int(os.environ["CODE"])
if code in (0, 3, 5):
    folder.mkdir(exist_ok=True)
    (folder / "verdict.json").write_text(json.dumps({{"verdict": "verdict of " + str(code)}}))
    (folder / "check.md").write_text("### Verdict\\n")
sys.exit(code)
"""


class Ran(NamedTuple):
    """How the step ended."""

    code: int
    outputs: dict[str, str]
    summary: str
    arguments: list[str]
    secret: str | None
    output: str


def given(**inputs: str) -> dict[str, str]:
    """The values of all inputs, by default those of the manifest."""
    defaults = {name: each.get("default", "") for name, each in MANIFEST["inputs"].items()}
    return {
        **defaults,
        "folder": "out",
        "scenario": "team.toml",
        **{key.replace("_", "-"): value for key, value in inputs.items()},
    }


def run(folder: Path, code: int, **inputs: str) -> Ran:
    """Runs the action's step as GitHub does: the inputs are in the variables that the step names."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "concord").write_text(STAND_IN)
    (tools / "concord").chmod(0o755)
    values = given(**inputs)
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
        for name, text in CHECK["env"].items()
    }
    path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    files = {"GITHUB_OUTPUT": str(folder / "outputs"), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    env = {**variables, **files, "GITHUB_ACTION_PATH": str(ACTION), "PATH": path, "CODE": str(code)}
    ended = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", CHECK["run"]],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (folder / "told.json").exists(), ended.stderr
    arguments, secret = json.loads((folder / "told.json").read_text())
    outputs = dict(line.split("=", 1) for line in (folder / "outputs").read_text().splitlines())
    summary = (folder / "summary").read_text() if (folder / "summary").exists() else ""
    return Ran(ended.returncode, outputs, summary, arguments, secret, ended.stdout)


def test_no_input_is_part_of_a_script() -> None:
    for step in MANIFEST["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_every_input_is_used_and_described() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", (ACTION / "action.yml").read_text()))
    assert used == MANIFEST["inputs"].keys()
    assert all(each["description"] for each in MANIFEST["inputs"].values())


@pytest.mark.parametrize("code", [0, 3, 5])
def test_the_step_ends_as_the_check_does_and_tells_its_verdict(tmp_path: Path, code: int) -> None:
    ran = run(tmp_path, code, baseline="main.json")
    assert ran.code == code
    assert ran.outputs == {"exit-code": str(code), "verdict": f"verdict of {code}"}
    assert ran.summary == "### Verdict\n"


@pytest.mark.parametrize("code", [1, 2])
def test_a_check_that_could_not_run_has_no_verdict(tmp_path: Path, code: int) -> None:
    ran = run(tmp_path, code)
    assert (ran.code, ran.outputs, ran.summary) == (code, {"exit-code": str(code)}, "")


def test_an_unsure_check_passes_with_a_warning_if_it_may(tmp_path: Path) -> None:
    ran = run(tmp_path, 3, unsure_passes="true")
    assert ran.code == 0
    assert ran.output.startswith("::warning::")
    assert run(tmp_path, 5, unsure_passes="true").code == 5


def test_inputs_become_arguments_as_they_are(tmp_path: Path) -> None:
    inputs = {"baseline": "a b.json", "fail_under": "60", "expect": "the answers.csv", "task_secret": "5e" * 32}
    ran = run(tmp_path, 0, scenario="--odd $(name).toml", **inputs)
    assert ran.arguments[0] == "check"
    assert ran.arguments[-2:] == ["--", "--odd $(name).toml"]
    pairs = dict(zip(ran.arguments[1:-2:2], ran.arguments[2:-2:2], strict=True))
    assert pairs["--baseline"] == "a b.json"
    assert pairs["--fail-under"] == "60"
    assert pairs["--expect"] == "the answers.csv"
    assert "--against" not in pairs
    assert ran.secret == "5e" * 32
    assert run(tmp_path, 0).secret is None

"""The steps of the action for GitHub, with whole programs: a regression, an equal version, and an improvement."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.kit.concord import ROOT, bare_environment, concord

ACTION = ROOT / "deploy/check"
[_, CHECK] = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]

TEAM = """
[[participants]]
name = "agent"
cmd = "python -m concord_suites.agent{habits}"

[config]
suite = ["maximum", "count", "median", "dedupe", "set-union", "top-k"]
seats = 3
num_runs = 2
quiet_s = 0.0
"""
WITHHOLDING = "".join(f" --habit withholding@agent/{number}" for number in (1, 2, 3))


def step(folder: Path, scenario: str, baseline: str) -> tuple[int, dict[str, str], str]:
    """Runs the action's step. Returns its exit code, its outputs and the job's summary."""
    name = f"{scenario}-{Path(baseline).parent}"
    outputs, summary = folder / f"{name}.outputs", folder / f"{name}.summary"
    inputs = {
        "SCENARIO": f"{scenario}.toml",
        "BASELINE": baseline,
        "AGAINST": "",
        "MARGIN": "40",
        "FAIL_UNDER": "",
        "EXPECT": "",
        "MAX_PAIRS": "40",
        "UNSURE_PASSES": "false",
        "FOLDER": name,
        "CONCORD_TASK_SECRET": "",
    }
    assert inputs.keys() == CHECK["env"].keys()
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "concord").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m concord_cli "$@"\n')
    (tools / "concord").chmod(0o755)
    env = {
        **bare_environment(),
        **inputs,
        "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_ACTION_PATH": str(ACTION),
    }
    ended = subprocess.run(["bash", "-c", CHECK["run"]], cwd=folder, env=env, check=False)
    told = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    return ended.returncode, told, summary.read_text()


def test_the_action_tells_a_regression_an_equal_version_and_an_improvement(tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text(TEAM.format(habits=""))
    (tmp_path / "bad.toml").write_text(TEAM.format(habits=WITHHOLDING))
    for team in ("good", "bad"):
        with concord(tmp_path, "run", f"{team}.toml", "-o", f"{team}/main.json") as running:
            assert running.finish() == 0, running.output

    code, outputs, summary = step(tmp_path, "bad", "good/main.json")
    assert (code, outputs["verdict"]) == (5, "worse")
    assert "told nobody" in summary
    code, outputs, _ = step(tmp_path, "good", "good/main.json")
    assert (code, outputs["verdict"]) == (0, "not worse")
    code, outputs, summary = step(tmp_path, "good", "bad/main.json")
    assert (code, outputs["verdict"]) == (0, "better")
    assert summary.startswith("### ")
    verdict = json.loads((tmp_path / "good-bad/verdict.json").read_text())
    assert verdict["low"] > 0


pytestmark = pytest.mark.timeout(600)

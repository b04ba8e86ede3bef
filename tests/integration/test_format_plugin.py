"""Plugins: an installed package adds a trace format."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs/examples/chatlog"

DOCUMENT = (EXAMPLE.parents[1] / "evaluating-traces.md").read_text(encoding="utf-8")

CHAT = """\
2026-01-01T12:00:00Z planner -> worker: Check this.
2026-01-01T12:00:05Z worker -> planner: Fine.
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site folder in which the example package is installed."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *options, "--target", str(folder), str(EXAMPLE)], check=True
    )
    return folder


def evaluate(path: Path, *sites: Path) -> "subprocess.CompletedProcess[str]":
    python_path = os.pathsep.join([*map(str, sites), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "concord_cli", "evaluate", str(path)],
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
    )


def test_a_trace_in_an_installed_format_is_recognised_and_read(site: Path, tmp_path: Path) -> None:
    path = tmp_path / "team.chat"
    path.write_text(CHAT)
    done = evaluate(path, site)
    assert (done.returncode, done.stderr) == (0, "")
    shown = re.findall(r"^ {4}\$ concord evaluate team\.chat\n((?: {4}.*\n)+)", DOCUMENT, re.MULTILINE)
    assert [done.stdout.split()[: len(block.split())] for block in shown] == [shown[0].split()]
    assert "every message counts as a call (1 trace)" in done.stdout


def test_a_line_that_the_plugin_refuses_is_reported_like_any_other(site: Path, tmp_path: Path) -> None:
    path = tmp_path / "team.chat"
    path.write_text(f"{CHAT}\nand so on\n")
    done = evaluate(path, site)
    assert done.returncode == 2
    assert done.stderr == f"concord: {path}:4: not a message of the form `time sender -> receiver: text`\n"


def test_without_the_plugin_the_file_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "team.chat"
    path.write_text(CHAT)
    assert "not a trace in any known format" in evaluate(path).stderr

"""`make attack` as a process, and the verdicts that it prints."""

import subprocess
import sys

from tests.kit.concord import ROOT, bare_environment


def run_attacks(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command with lines wide enough for its table."""
    return subprocess.run(
        [sys.executable, "-m", "lab.attacks", *arguments],
        cwd=ROOT,
        env=bare_environment() | {"COLUMNS": "1000"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def verdicts(output: str) -> dict[str, str]:
    """The verdict on each attack, from the table."""
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in output.splitlines() if line[:1] == "│"]
    return {row[0]: row[1] for row in rows}

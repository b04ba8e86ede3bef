"""The commands of the demonstration, the tutorial and the README print what these pages show."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.concord import ROOT

BLOCK = re.compile(r"^```(sh|text|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# The tasks follow from it. Of tasks that are new in each run, some are such that a seat's guess is right now and then.
TASK_SECRET = "5e" * 32
_NUMBER = re.compile(r"\d(?:[\d,.]*\d)?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the repository's teams."""
    for name in ("scenarios", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "runs").mkdir()
    return tmp_path


def pasted(lines: str, folder: Path) -> tuple[int, str]:
    """The exit code and the output of lines in a shell that finds `concord`."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "CONCORD_TASK_SECRET": TASK_SECRET}
    shell = ["/bin/sh", "-c", f"set -e\n{lines}"]
    run = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def shows(block: str, printed: str, *, figures: bool = True) -> bool:
    """Whether output has the words of a block, whatever the line breaks; `…` is any text. `figures`: or the numbers."""
    words = re.escape(" ".join(block.split())).replace("\\ …\\ ", r"\ (?:.*\ )?").replace("…", ".*")
    pattern = words if figures else _NUMBER.sub(lambda _: r"\d[\d,.]*", words.replace(r"\.", ".").replace(r"\,", ","))
    return re.search(pattern, " ".join(printed.split())) is not None


def blocks_of(page: str) -> list[tuple[str, str]]:
    return [(kind, text) for kind, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))]


def test_the_demonstration(folder: Path) -> None:
    printed = ""
    for kind, text in blocks_of("docs/demo.md"):
        if kind == "text":
            assert shows(text, printed), f"{text}\nis not in\n{printed}"
            continue
        code, printed = pasted(text, folder)
        assert code == (2 if "misspelt" in text else 0), printed
    assert {path.name for path in (folder / "runs").glob("*.html")} == {"withholding.html", "index.html"}


def test_the_tutorial(folder: Path) -> None:
    printed, team = "", folder / "team.toml"
    for kind, text in blocks_of("docs/tutorial.md"):
        if kind == "toml":
            known = team.read_text() if team.exists() else ""
            team.write_text(re.sub(r"^cmd = .*\n", text, known, flags=re.MULTILINE) if known else text)
        elif kind == "text":
            assert shows(text, printed), f"{text}\nis not in\n{printed}"
        elif "make setup" not in text:
            code, printed = pasted(text.replace(" --open", ""), folder)
            assert code == 0, printed
    assert {path.name for path in (folder / "runs").glob("*.html")} == {"before.html", "index.html"}


def test_the_readme(folder: Path) -> None:
    quick, withholding = (text for kind, text in blocks_of("README.md") if kind == "text")
    for command, block in (("concord run", quick), ("concord run scenarios/withholding.toml", withholding)):
        code, printed = pasted(command, folder)
        assert code == 0, printed
        assert shows(block, printed, figures=False), f"{block}\nis not in\n{printed}"

"""`docs/demo.md`: its commands, in their order, print what the page shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.e2e.concord import ROOT

BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGE = (ROOT / "docs/demo.md").read_text(encoding="utf-8")


def test_the_commands_of_the_demonstration_print_what_the_page_shows(tmp_path: Path) -> None:
    for name in ("scenarios", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "runs").mkdir()
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    printed = ""
    for language, text in BLOCK.findall(PAGE):
        if language == "text":
            assert re.search(shown(text), " ".join(printed.split())), f"{text}\nis not in\n{printed}"
            continue
        script = f"set -e\n{text}"
        run = subprocess.run(
            ["/bin/sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        printed = run.stdout + run.stderr
        assert run.returncode == (2 if "misspelt" in text else 0), printed
    assert {path.name for path in (tmp_path / "runs").glob("*.html")} == {"withholding.html", "index.html"}


def shown(text: str) -> str:
    """A pattern for the words of a block, whatever the line breaks, in which `…` is any text."""
    return re.escape(" ".join(text.split())).replace("…", ".*")

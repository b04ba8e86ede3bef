"""`docs/environment.md`: its shell commands print what the document shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.kit.ports import free_port

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
OUTPUT_MARK = "# → "
TEMPORARY = "/tmp/"  # noqa: S108 - the document's folder


def blocks() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL)


def test_the_shell_commands_print_what_the_document_shows(tmp_path: Path) -> None:
    script = "\n".join(blocks()).replace("8000", str(free_port())).replace(TEMPORARY, f"{tmp_path}/")
    expected = [line.removeprefix(OUTPUT_MARK) for line in script.splitlines() if line.startswith(OUTPUT_MARK)]
    # The script prints a mark wherever the document shows output.
    marked = re.sub(rf"^{OUTPUT_MARK}.*$", "echo @@@@", script, flags=re.MULTILINE)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "CONCORD_LOG_LEVEL": "WARNING"}
    run = subprocess.run(
        ["bash", "-c", marked], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    printed = run.stdout.split("@@@@\n")[:-1]
    assert len(printed) == len(expected), (run.stdout, run.stderr)
    for output, part in zip(printed, expected, strict=True):
        assert part in output, (part, output, run.stderr)

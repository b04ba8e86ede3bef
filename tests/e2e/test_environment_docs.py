"""docs/environment.md, pasted into a shell: every line prints what the document says."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.redis_servers import free_port

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
SHOWN = "# → "
TEMPORARY = "/tmp/"  # noqa: S108 - what the document writes


def blocks() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL)


def test_the_first_ten_minutes_go_as_written(tmp_path: Path) -> None:
    script = "\n".join(blocks()).replace("8000", str(free_port())).replace(TEMPORARY, f"{tmp_path}/")
    expected = [line.removeprefix(SHOWN) for line in script.splitlines() if line.startswith(SHOWN)]
    # Where the document says what is printed, the shell prints a mark.
    marked = re.sub(rf"^{SHOWN}.*$", "echo @@@@", script, flags=re.MULTILINE)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "CONCORD_LOG_LEVEL": "WARNING"}
    run = subprocess.run(
        ["bash", "-c", marked], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    printed = run.stdout.split("@@@@\n")[:-1]
    assert len(printed) == len(expected), (run.stdout, run.stderr)
    for output, part in zip(printed, expected, strict=True):
        assert part in output, (part, output, run.stderr)

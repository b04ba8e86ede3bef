"""Records the traces of all set-ups anew, each in an environment of its own: `record.py [SET-UP …]`.

`setups.json` has the environments, and by set-up its program and the truth about its team: agents, and edges as caller,
callee, kind, calls and failed calls. The environments are in `FRAMEWORKS_ENVIRONMENTS`, by default a folder of the
system's folder for temporary files.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
TRACES: Final = HERE.parents[1] / "tests" / "recordings" / "frameworks"
VERSIONS: Final = TRACES / "versions.json"
ENVIRONMENTS: Final = Path(
    os.environ.get("FRAMEWORKS_ENVIRONMENTS") or Path(tempfile.gettempdir(), "concord-frameworks")
)
_QUIET: Final = {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OPENAI_API_KEY": "none"}
_TIME_LIMIT_S: Final = 120


def record(names: list[str]) -> None:
    """Records these set-ups, or all. Ends the process if one of them fails."""
    setups: dict[str, Any] = json.loads((HERE / "setups.json").read_text(encoding="utf-8"))
    versions: dict[str, dict[str, str]] = json.loads(VERSIONS.read_text(encoding="utf-8")) if VERSIONS.exists() else {}
    for name, setup in setups["setups"].items():
        if names and name not in names:
            continue
        python = _environment(setup["environment"], setups["environments"][setup["environment"]])
        versions[setup["environment"]] = _versions(python, setups["environments"][setup["environment"]])
        print(name, flush=True)
        command = [HERE / setup["program"], setup["team"], setup["instrumentation"], TRACES / f"{name}.jsonl"]
        subprocess.run([python, *command], check=True, timeout=_TIME_LIMIT_S, env={**os.environ, **_QUIET})
    VERSIONS.write_text(json.dumps(dict(sorted(versions.items())), indent=2) + "\n", encoding="utf-8")


def _environment(name: str, requirements: list[str]) -> Path:
    """The Python of an environment with the requirements, which is made if it does not exist yet."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"{name}: {', '.join(requirements)}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        (folder / "ready").touch()
    return python


def _versions(python: Path, requirements: list[str]) -> dict[str, str]:
    """The versions of the required packages in an environment."""
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True)
    installed = {each["name"].lower(): each["version"] for each in json.loads(listed.stdout)}
    names = [each.split("==")[0].split("[")[0] for each in requirements]
    return {name: installed[name.lower()] for name in sorted(names)}


if __name__ == "__main__":
    record(sys.argv[1:])

"""Records the traces of all set-ups anew, each in an environment of its own: `python -m lab.frameworks [SET-UP …]`.

`setups.json` has the environments, and by set-up its program and the truth about its team: agents, and edges as caller,
callee, kind, calls and failed calls. The environments are in `FRAMEWORKS_ENVIRONMENTS`, by default a folder of the
system's folder for temporary files.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = ROOT / "examples" / "frameworks"
TRACES: Final = ROOT / "tests" / "recordings" / "frameworks"
VERSIONS: Final = TRACES / "versions.json"
ENVIRONMENTS: Final = Path(
    os.environ.get("FRAMEWORKS_ENVIRONMENTS") or Path(tempfile.gettempdir(), "concord-frameworks")
)
_QUIET: Final = {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OPENAI_API_KEY": "none"}
_TIME_LIMIT_S: Final = 120


def record(names: list[str]) -> None:
    """Records these set-ups, or all. Ends the process if one of them fails."""
    setups: dict[str, Any] = json.loads((PROGRAMS / "setups.json").read_text(encoding="utf-8"))
    versions: dict[str, dict[str, str]] = json.loads(VERSIONS.read_text(encoding="utf-8")) if VERSIONS.exists() else {}
    for name, setup in setups["setups"].items():
        if names and name not in names:
            continue
        program = PROGRAMS / setup["program"]
        packages = setups["environments"][setup["environment"]]
        if program.suffix == ".mjs":
            runner, versions[setup["environment"]] = _node_environment(setup["environment"], packages, program)
        else:
            python = _environment(setup["environment"], packages)
            runner = [python, program]
            versions[setup["environment"]] = _versions(python, packages)
        print(name, flush=True)
        command = [*runner, setup["team"], setup["instrumentation"], TRACES / f"{name}.jsonl"]
        subprocess.run(command, check=True, timeout=_TIME_LIMIT_S, env={**os.environ, **_QUIET})
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


def _node_environment(name: str, packages: list[str], program: Path) -> tuple[list[str | Path], dict[str, str]]:
    """The command of a program for Node, copied beside its packages, where Node looks for them; and their versions."""
    folder = ENVIRONMENTS / name
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules").exists():
        print(f"{name}: {', '.join(packages)}", flush=True)
        npm = shutil.which("npm") or sys.exit("npm is not installed")
        subprocess.run([npm, "install", "--silent", "--prefix", folder, *packages], check=True)
    installed = ((package, folder / "node_modules" / package / "package.json") for package in sorted(packages))
    versions = {package: json.loads(path.read_text(encoding="utf-8"))["version"] for package, path in installed}
    return ["node", shutil.copy(program, folder)], versions


def _versions(python: Path, requirements: list[str]) -> dict[str, str]:
    """The versions of the required packages in an environment."""
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True)
    installed = {each["name"].lower(): each["version"] for each in json.loads(listed.stdout)}
    names = [each.split("==")[0].split("[")[0] for each in requirements]
    return {name: installed[name.lower()] for name in sorted(names)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser("lab.frameworks", description=__doc__)
    parser.add_argument("setups", nargs="*", metavar="SET-UP", help="of setups.json; all without any")
    record(parser.parse_args().setups)

"""Assesses the sample team and an assistant on every Python of this machine, and verifies each row on all of them.

Each Python gets an environment of its own, `.venv-3.12` for example. Exits with 1 if a row does not follow from its
bundle on some Python, and with 2 if the machine has fewer than two.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.console import Console

ROOT: Final = Path(__file__).parent.parent
SUPPORTED: Final = ("3.11", "3.12", "3.13", "3.14")
PYENV: Final = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
ASSESSMENTS: Final[dict[str, tuple[str, ...]]] = {"team": (), "assistant": ("scenarios/assistant/first_day",)}
"""Arguments of `concord run`: team tasks with their metrics, and an assistant with its criteria."""


def interpreters() -> Iterator[tuple[str, Path]]:
    """The version and the path of one working interpreter of each supported version."""
    for version in SUPPORTED:
        on_path = shutil.which(f"python{version}")
        for candidate in (*([Path(on_path)] if on_path else []), *sorted(PYENV.glob(f"{version}.*/bin/python"))):
            asked = [str(candidate), "-c", "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"]
            answer = subprocess.run(asked, capture_output=True, text=True, check=False)
            if answer.stdout.strip() == version:
                yield version, candidate
                break


def installed(version: str, python: Path) -> Path:
    """The command `concord` in the version's environment, with what a run needs."""
    folder = f".venv-{version}"
    arguments = ["locks/install", f"{folder}/ready", "locks/run.txt", "locks/editable.txt"]
    subprocess.run(arguments, cwd=ROOT, env={**os.environ, "PYTHON": str(python)}, check=True)
    return ROOT / folder / "bin" / "concord"


def main(folder: Path, *, ends: bool) -> int:
    """Runs all assessments and verifications; returns the exit code."""
    console = Console(highlight=False, markup=False)
    found = list(interpreters())
    chosen = dict(found[:1] + found[-1:] if ends else found)
    commands = {version: installed(version, python) for version, python in chosen.items()}
    if len(commands) < 2:
        console.print(f"needs two Pythons of {', '.join(SUPPORTED)}, found {', '.join(commands) or 'none'}")
        return 2
    failed = 0
    for version, command in commands.items():
        for name, arguments in ASSESSMENTS.items():
            output = folder / version / name
            run = [str(command), "run", *arguments, "--output", str(output / "results.json")]
            subprocess.run(run, cwd=ROOT, capture_output=True, check=False)
            for other, verifier in commands.items():
                verified = subprocess.run(
                    [str(verifier), "verify", str(output / "results.json")], capture_output=True, text=True, check=False
                )
                failed += verified.returncode != 0
                console.print(
                    f"{name} of {version} on {other}: {'the same' if verified.returncode == 0 else 'DIFFERS'}"
                )
                if verified.returncode:
                    console.print(verified.stdout[-2000:] + verified.stderr[-2000:])
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser("lab.interpreters", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="keeps the rows and the bundles")
    parser.add_argument("--ends", action="store_true", help="only on the oldest and the newest of the Pythons")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(arguments.folder or Path(temporary), ends=arguments.ends))

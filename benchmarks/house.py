"""`python -m benchmarks.house OLD`: what a newcomer meets in this working tree, and in another one with a `.venv`.

With `--tests`, also runs `make test` in both trees, one after the other; with `--write`, updates docs/benchmarks.md.
"""

import argparse
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console

from benchmarks.__main__ import DOCUMENT
from benchmarks.tables import ResultTable, count, write_section

HERE: Final = Path(__file__).parents[1]
ENTERED: Final = HERE / "benchmarks/entered"
SOURCES: Final = ("assistant", "cli", "services", "shared", "suites")
MIB: Final = 1 << 20


def main() -> None:
    """Measures both trees, and prints a table."""
    parser = argparse.ArgumentParser("benchmarks.house", description=__doc__)
    parser.add_argument("old", type=Path, metavar="OLD", help="the other working tree, with its .venv")
    parser.add_argument("--tests", action="store_true", help="also run `make test` in both trees")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    trees = [arguments.old.resolve(), HERE]
    figures = [{**sizes(tree), **entered(tree), **(tested(tree) if arguments.tests else {})} for tree in trees]
    table = _table(figures)
    Console().print(table.rich())
    if arguments.write:
        write_section(DOCUMENT, "house", [table])


def _table(figures: Sequence[Mapping[str, float]]) -> ResultTable:
    old, new = figures
    return ResultTable(
        "The house, old and new",
        "Sources are the product without its tests. The environment is the one that `make run` installs. A run enters "
        "a file if it calls one of its functions: `concord run` of the quickstart, with all of its processes but "
        "Valkey and the guards. CPU seconds include children.",
        ("", "old", "new", "ratio"),
        [(name, count(old[name]), count(value), f"{value / old[name]:.2f}") for name, value in new.items()],
    )


def sizes(tree: Path) -> dict[str, float]:
    """The numbers of distributions, files and lines, and the size of the environment of a run (MiB)."""
    tracked = [tree / name for name in _output(tree, "git", "ls-files").splitlines()]
    sources = [path for path in tracked if path.suffix == ".py" and path.relative_to(tree).parts[0] in SOURCES]
    tests = [path for path in tracked if path.suffix == ".py" and path.relative_to(tree).parts[0] == "tests"]
    projects = [path for path in tracked if path.name == "pyproject.toml" and "examples" not in path.parts]
    return {
        "distributions": sum("\n[project]\n" in f"\n{path.read_text()}" for path in projects),
        "files of sources": len(sources),
        "lines of sources": sum(map(_lines, sources)),
        "lines of tests": sum(map(_lines, tests)),
        "environment of a run (MiB)": _environment_mib(tree),
    }


def entered(tree: Path) -> dict[str, float]:
    """The files and processes that an assessment of the quickstart enters."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "entered"
        variables = {"ENTERED_LOG": str(log), "ENTERED_TREE": str(tree), "PYTHONPATH": str(ENTERED)}
        command = [str(tree / ".venv/bin/concord"), "run", "-o", f"{folder}/results.json"]
        subprocess.run(command, cwd=tree, env={**os.environ, **variables}, capture_output=True, check=True)  # noqa: S603
        noted = [line.split("\t") for line in log.read_text().splitlines()]
    return {
        "files that a run enters": len({name for _, name in noted}),
        "processes of a run": len({pid for pid, _ in noted}),
    }


def tested(tree: Path) -> dict[str, float]:
    """Wall and CPU seconds of `make test`. Raises CalledProcessError if it fails."""
    began, before = time.perf_counter(), os.times()
    _output(tree, "make", "test")
    wall_s, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return {"make test: wall (s)": wall_s, "make test: CPU (s)": used}


def _environment_mib(tree: Path) -> float:
    """The size of the environment that `make run` installs: of the lock file of a run, else the whole `.venv`."""
    locks = tree / "locks"
    if not (locks / "run.txt").exists():
        return _size(tree / ".venv")
    with TemporaryDirectory(dir=tree) as folder:
        ready = Path(folder).relative_to(tree) / "ready"
        _output(tree, "locks/install", str(ready), "locks/run.txt", "locks/editable.txt")
        return _size(Path(folder))


def _size(folder: Path) -> float:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) / MIB


def _lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def _output(tree: Path, *command: str) -> str:
    return subprocess.run(command, cwd=tree, capture_output=True, check=True, text=True).stdout  # noqa: S603


if __name__ == "__main__":
    main()

"""`python -m benchmarks.start OLD`: starts of this working tree against those of another one, each with its `.venv`.

Linux only. With `--write`, updates the table of docs/benchmarks.md. The trees take turns, so that other work on the
machine meets both.
"""

import argparse
import os
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console

from benchmarks.__main__ import DOCUMENT
from benchmarks.tables import ResultTable, write_section
from tests.ports import row_of_free_ports

HERE: Final = Path(__file__).parents[1]
IDLE_S: Final = 3.0
"""How long after its start a stack's memory is measured."""

MIB_KB: Final = 1024
TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")

GOALS: Final = {
    "concord up: ready (s)": "0.6 of old",
    "concord up: CPU until ready (s)": "0.5 of old",
    "concord up: memory, idle (MiB)": "",
    "concord green: memory, idle (MiB)": "250 MiB",
    "concord run: whole run (s)": "5 s",
    "concord run: CPU (s)": "",
}
"""What is measured, and the goal, if there is one."""


@dataclass(frozen=True, slots=True)
class Started:
    """A stack that has said that it is ready: after how long, and its CPU time and memory (PSS) with all children."""

    ready_s: float
    cpu_s: float
    pss_mib: float


def main() -> None:
    """Measures both trees in turns, and prints medians and ratios."""
    parser = argparse.ArgumentParser("benchmarks.start", description=__doc__)
    parser.add_argument("old", type=Path, metavar="OLD", help="the other working tree, with its .venv")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each tree")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    old, new = _measured([arguments.old.resolve(), HERE], arguments.rounds)
    table = _table(old, new, arguments.rounds)
    Console().print(table.rich())
    if arguments.write:
        write_section(DOCUMENT, "start", [table])


def _measured(trees: Sequence[Path], rounds: int) -> list[Mapping[str, float]]:
    """The medians of all figures, by tree."""
    figures: list[dict[str, list[float]]] = [defaultdict(list) for _ in trees]
    for _ in range(rounds):
        for tree, found in zip(trees, figures, strict=True):
            for name, value in _figures(tree):
                found[name].append(value)
    return [{name: median(values) for name, values in found.items()} for found in figures]


def _figures(tree: Path) -> Iterator[tuple[str, float]]:
    gateway, collector, agents, *_ = row_of_free_ports(8)
    ports = ("--port", str(gateway), "--collector-port", str(collector), "--agents-port", str(agents))
    up = _start(tree, "Press Ctrl-C", "up", *ports)
    yield "concord up: ready (s)", up.ready_s
    yield "concord up: CPU until ready (s)", up.cpu_s
    yield "concord up: memory, idle (MiB)", up.pss_mib
    green = _start(tree, "is ready at", "green", "--port", str(gateway))
    yield "concord green: memory, idle (MiB)", green.pss_mib
    wall_s, cpu_s = _run(tree)
    yield "concord run: whole run (s)", wall_s
    yield "concord run: CPU (s)", cpu_s


def _table(old: Mapping[str, float], new: Mapping[str, float], rounds: int) -> ResultTable:
    return ResultTable(
        "Starts, old and new",
        f"Medians of {rounds} rounds, in which the trees take turns. `up` and `run` start the sample team. "
        f"Memory is the proportional set size of all processes, {IDLE_S:g} s after the start. {os.cpu_count()} cores.",
        ("", "old", "new", "ratio", "goal"),
        [
            (name, f"{old[name]:.3g}", f"{new[name]:.3g}", f"{new[name] / old[name]:.2f}", goal)
            for name, goal in GOALS.items()
        ],
    )


def _start(tree: Path, ready: str, *arguments: str) -> Started:
    """Starts a stack, measures it, and stops it. Raises RuntimeError if it ends before it is ready."""
    began = time.perf_counter()
    with _concord(tree, *arguments) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        if not any(ready in line for line in process.stdout):
            raise RuntimeError(f"`concord {arguments[0]}` of {tree} ended before it was ready")
        ready_s, cpu_s = time.perf_counter() - began, sum(map(_cpu_s, _family(process.pid)))
        time.sleep(IDLE_S)
        return Started(ready_s, cpu_s, sum(map(_pss_kb, _family(process.pid))) / MIB_KB)


def _run(tree: Path) -> tuple[float, float]:
    """Wall and CPU seconds of `concord run`, which waits for all of its processes. Raises CalledProcessError."""
    began, before = time.perf_counter(), os.times()
    with TemporaryDirectory() as folder, _concord(tree, "run", "-o", f"{folder}/results.json") as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        output = process.stdout.read()
        if process.wait() != 0:
            raise subprocess.CalledProcessError(process.returncode, "concord run", output)
    wall_s, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall_s, used


@contextmanager
def _concord(tree: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command of a tree, in that tree, without settings from the environment. Terminated at the end."""
    ours = ("REDIS_URL", "AGENTBEATS_", "CONCORD_", "PURPLE_")
    process = subprocess.Popen(  # noqa: S603 - our own program
        [tree / ".venv/bin/concord", *arguments],
        cwd=tree,
        env={name: value for name, value in os.environ.items() if not name.startswith(ours)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate()


def _family(root: int) -> list[int]:
    """A process and all of its descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children[int(fields[1])].append(int(entry.name))
    found = [root]
    for each in found:
        found += children[each]
    return found


def _cpu_s(pid: int) -> float:
    """CPU seconds of a process and of the children that it has waited for."""
    return sum(map(int, _stat(pid)[11:15])) / TICKS_PER_S


def _pss_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` after the name of the program; none of a process that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


if __name__ == "__main__":
    main()

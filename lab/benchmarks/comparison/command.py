"""`python -m lab.benchmarks compare OLD NEW`: measures two working trees by turns, and prints ratios with intervals.

Each tree has an environment of its own (`make setup`). What one of the trees cannot do is named and left out.
"""

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from lab.benchmarks import provenance
from lab.benchmarks.comparison.probes import PROBES
from lab.benchmarks.comparison.ratios import ratio
from lab.benchmarks.comparison.trees import Tree
from lab.benchmarks.tables import ResultTable, count, write_section

Figures = Mapping[str, Sequence[float]]
"""By name, the value of each round."""


def main(words: Sequence[str], document: Path) -> None:
    """Parses the arguments, compares, and prints the table. `document`: where `--write` puts it."""
    parser = argparse.ArgumentParser(
        "lab.benchmarks compare",
        description=__doc__,
        epilog="probes:\n" + "\n".join(f"  {name:<12} {probe.what}" for name, probe in PROBES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("old", type=Path, metavar="OLD", help="a working tree with its .venv")
    parser.add_argument("new", type=Path, metavar="NEW", help="another one")
    parser.add_argument("--only", nargs="+", choices=PROBES, metavar="PROBE", help="see below; all without it")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each tree")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{document.name}")
    arguments = parser.parse_args(words)
    trees = [Tree(arguments.old.resolve()), Tree(arguments.new.resolve())]
    for tree in trees:
        if not tree.python.exists():
            parser.error(f"{tree.path} has no .venv: run `make setup` in it")
    table = compared(trees, arguments.only or list(PROBES), arguments.rounds)
    Console().print(table.rich())
    if arguments.write:
        write_section(document, "compare", [table])


def compared(trees: Sequence[Tree], names: Iterable[str], rounds: int) -> ResultTable:
    """The table of two trees, which take turns: the one that begins a round ends the next one."""
    load = provenance.load()
    old, new = provenance.commit(trees[0].path), provenance.commit(trees[1].path)
    rows: list[Sequence[str]] = []
    with TemporaryDirectory() as folder:
        for name in names:
            try:
                then, now = _by_turns(name, trees, Path(folder), rounds)
            except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                rows.append((f"{name}: not measured, {_reason(error)}", "", "", "", ""))
                continue
            rows += [_row(figure, then[figure], now[figure]) for figure in now]
    return ResultTable(
        "Old and new",
        f"Old is {old}, new is {new}. Medians of {rounds} rounds, in which the trees take turns. The ratio is new over "
        "old, the geometric mean of the rounds' ratios, with its 95 % interval. Less is better everywhere.",
        ("", "old", "new", "ratio", "interval"),
        rows,
        f"Measured on {provenance.machine()}, {provenance.today()}; load {load:.1f} before and "
        f"{provenance.load():.1f} after.",
    )


def _by_turns(name: str, trees: Sequence[Tree], folder: Path, rounds: int) -> tuple[Figures, Figures]:
    found: list[defaultdict[str, list[float]]] = [defaultdict(list) for _ in trees]
    for number in range(rounds):
        turns = list(zip(trees, found, strict=True))
        for tree, figures in turns if number % 2 == 0 else reversed(turns):
            print(f"{name}, round {number + 1}: {tree.path}", file=sys.stderr)
            for figure, value in PROBES[name].figures(tree, folder):
                figures[figure].append(value)
    return found[0], found[1]


def _row(figure: str, old: Sequence[float], new: Sequence[float]) -> Sequence[str]:
    found = ratio(old, new)
    interval = "" if found.low is None or found.high is None else f"{found.low:.2f} to {found.high:.2f}"
    return figure, count(found.old), count(found.new), f"{found.value:.2f}", interval


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        return str(error.stderr).strip().splitlines()[-1]
    return str(error) or type(error).__name__

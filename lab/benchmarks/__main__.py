"""`python -m lab.benchmarks [SECTION…]`: measures and prints; with `--write`, updates the tables of docs/benchmarks.md.

`python -m lab.benchmarks compare OLD NEW` compares two working trees.
"""

import argparse
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console

from lab.benchmarks import provenance
from lab.benchmarks.comparison.command import main as compare
from lab.benchmarks.sections import SECTIONS
from lab.benchmarks.tables import Chart, ResultTable, write_section

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def main() -> None:
    """Measures the sections one after the other, so that they do not affect each other; or compares two trees."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that all servers end
    if sys.argv[1:2] == ["compare"]:
        compare(sys.argv[2:], DOCUMENT)
        return
    arguments = _parsed()
    console = Console()
    for name in arguments.sections or [name for name, section in SECTIONS.items() if not section.asked]:
        console.rule(name)
        beginning = provenance.Beginning.now()
        found = SECTIONS[name].measure(arguments.soak)
        tables = [_with_provenance(table, beginning.measured()) for table in found]
        for table in tables:
            console.print(table.rich())
        if arguments.write:
            write_section(DOCUMENT, name, tables)


def _parsed() -> argparse.Namespace:
    listed = "\n".join(
        f"  {name:<12} {section.what}{'; only if asked for' if section.asked else ''}"
        for name, section in SECTIONS.items()
    )
    parser = argparse.ArgumentParser(
        "lab.benchmarks",
        description=__doc__,
        epilog=f"sections:\n{listed}\n\n`lab.benchmarks compare --help` explains the comparison of two trees.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="see below; all without any")
    parser.add_argument("--write", action="store_true", help=f"put the tables into docs/{DOCUMENT.name}")
    parser.add_argument("--soak", type=float, default=20, metavar="SECONDS", help="how long memory is watched")
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(SECTIONS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return arguments


def _with_provenance(table: ResultTable | Chart, measured: str) -> ResultTable | Chart:
    return replace(table, measured=measured) if isinstance(table, ResultTable) else table


if __name__ == "__main__":
    main()

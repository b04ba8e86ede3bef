"""`python -m benchmarks [SECTION…]`: measures and prints; with `--write`, updates the tables of docs/benchmarks.md."""

import argparse
from importlib import import_module
from pathlib import Path

from rich.console import Console

from benchmarks.tables import write_section

SECTIONS = (
    "assessments",
    "bystander",
    "collector",
    "defences",
    "detectable",
    "environment",
    "evaluator",
    "power",
    "proxy",
    "recorded",
    "results",
    "rounds",
    "scaling",
    "workers",
)
"""Each is a module of this package with `measure(soak_s)`, which returns `ResultTable`s and `Chart`s."""

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def main() -> None:
    """Measures the sections one after the other, so that they do not affect each other."""
    parser = argparse.ArgumentParser("benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all without any")
    parser.add_argument("--write", action="store_true", help=f"put the tables into docs/{DOCUMENT.name}")
    parser.add_argument("--soak", type=float, default=20, metavar="SECONDS", help="how long memory is watched")
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(SECTIONS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    console = Console()
    for name in arguments.sections or SECTIONS:
        console.rule(name)
        tables = import_module(f"benchmarks.{name}").measure(soak_s=arguments.soak)
        for table in tables:
            console.print(table.rich())
        if arguments.write:
            write_section(DOCUMENT, name, tables)


if __name__ == "__main__":
    main()

"""`python -m lab.own_tasks`: plants faults in own tasks, and counts whom the evaluator names for them.

Fails if an agent that is not at fault is named in more than 2 % of the trials.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rich.console import Console

from lab.benchmarks.tables import ResultTable, write_section
from tests.kit.own_tasks.faults import FAULTS
from tests.kit.own_tasks.measures import MOST_WRONG, Named, named
from tests.kit.own_tasks.traps import TRAPS

DOCUMENT: Final = Path(__file__).parents[2] / "docs/scoring.md"


def main() -> int:
    """Reads the arguments and measures. Returns 1 if too many wrong agents are named."""
    parser = argparse.ArgumentParser("lab.own_tasks", description=__doc__)
    parser.add_argument("--trials", type=int, default=200, metavar="N", help="trials of each fault (default: 200)")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    faults = {name: named(fault, arguments.trials) for name, fault in (FAULTS | TRAPS).items()}
    result = table(faults, arguments.trials)
    Console().print(result.markdown(), markup=False, highlight=False, soft_wrap=True)
    if arguments.write:
        write_section(DOCUMENT, "own tasks", [result])
    total = _total(faults)
    return int(total.wrong > MOST_WRONG * total.planted)


def table(faults: Mapping[str, Named], trials: int) -> ResultTable:
    """The counts as a table."""
    return ResultTable(
        "Agents named for planted faults of own tasks",
        f"{trials} trials of each: teams of 3 to 8 agents in chains, hubs, trees and meshes, five styles of writing. "
        "Every fifth call fails once before it succeeds. *Nobody*: no cause could be shown.",
        ("Fault", "Rightly named", "Nobody", "Wrongly named"),
        [
            [name, *(f"{count / max(each.planted, 1):.1%}" for count in (each.right, each.nobody, each.wrong))]
            for name, each in [*faults.items(), ("all", _total(faults))]
        ],
    )


def _total(faults: Mapping[str, Named]) -> Named:
    counts = faults.values()
    return Named(*(sum(getattr(each, name) for each in counts) for name in ("planted", "right", "wrong")))


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.suites_gate`: measures the families of tasks, prints tables, and fails if a family is unfit."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from rich.console import Console

from concord_suites import FAMILIES
from tests.suites_gate.faults import FAULTS
from tests.suites_gate.measures import FAULTS_FOUND, SKILLS, Measures, Pretended, measured


def main() -> int:
    """Reads the arguments and measures. Returns 1 if a family does not pass."""
    parser = argparse.ArgumentParser("tests.suites_gate", description=__doc__)
    parser.add_argument("--instances", type=int, default=20, metavar="N", help="tasks of each family (default: 20)")
    parser.add_argument("--families", metavar="A,B", help="only these; all without")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    arguments = parser.parse_args()
    names = [family.name for family in FAMILIES]
    wanted = arguments.families.split(",") if arguments.families else names
    if unknown := set(wanted) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    progress, found = Console(stderr=True), dict[str, Measures]()
    with ProcessPoolExecutor(arguments.processes) as pool:
        jobs = [pool.submit(_measured, name, arguments.instances) for name in wanted]
        for number, job in enumerate(as_completed(jobs), start=1):
            family = job.result()
            found[family.family] = family
            reasons = "; ".join(family.failed())
            progress.print(
                f"{number} of {len(wanted)}: {family.family} {f'FAILED: {reasons}' if reasons else 'passed'}"
            )
    ordered = [found[name] for name in wanted]
    text = "\n\n".join([*_tables(ordered), *_verdicts(ordered)])
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    return int(any(_reasons(ordered)))


def _measured(name: str, instances: int) -> Measures:
    [family] = [each for each in FAMILIES if each.name == name]
    return measured(family, instances)


def _tables(families: Sequence[Measures]) -> Iterable[str]:
    yield _table(
        [
            "family",
            "chance",
            "null",
            "echo",
            "silent",
            "convention",
            "good team",
            "messages",
            "fewest",
            "by calls",
            "calls",
            "score",
            "dump",
            "faults",
        ],
        [
            [
                each.family,
                f"{each.chance:.2f}",
                *(_outcome(each.pretended[name]) for name in ("null", "echo", "silent", "convention")),
                f"{each.oracle:.2f}",
                f"{each.messages:.1f}",
                f"{each.fewest:.1f}",
                f"{each.by_calls:.2f}",
                f"{each.calls:.1f}",
                f"{each.oracle_score:.2f}",
                f"{each.dump_score:.2f}",
                f"{each.faults:.1%}",
            ]
            for each in families
        ],
    )
    yield _table(
        ["family", *(f"{skill}: outcome at 0, .1 ... 1" for skill in SKILLS)],
        [
            [each.family, *(" ".join(f"{mean:.2f}" for mean in each.curves[skill].means) for skill in SKILLS)]
            for each in families
        ],
    )
    made, found, alone = (
        sum((getattr(each, name) for each in families), Counter[str]()) for name in ("made", "found", "found_alone")
    )
    confused = sum((each.confused for each in families), Counter[tuple[str, str]]())
    yield _table(
        ["fault", "made", "cause and seat found", "no other seat named", "found instead"],
        [
            [
                fault,
                str(made[fault]),
                f"{found[fault]} ({found[fault] / max(made[fault], 1):.1%})",
                str(alone[fault]),
                "; ".join(f"{count} {causes}" for (name, causes), count in confused.most_common() if name == fault),
            ]
            for fault in FAULTS
        ]
        + [
            [
                "all",
                str(made.total()),
                f"{found.total()} ({found.total() / max(made.total(), 1):.2%})",
                str(alone.total()),
                "",
            ]
        ],
    )


def _verdicts(families: Sequence[Measures]) -> Iterable[str]:
    reasons = [f"- {reason}" for reason in _reasons(families)]
    yield "\n".join(["Not passed:", *reasons]) if reasons else f"All {len(families)} families passed."


def _reasons(families: Sequence[Measures]) -> Iterator[str]:
    """Why the families do not pass."""
    for each in families:
        yield from (f"{each.family}: {reason}" for reason in each.failed())
    made, found = (sum(getattr(each, name).total() for each in families) for name in ("made", "found"))
    if found < FAULTS_FOUND * made:
        yield f"all: {found} of {made} faults are found"


def _outcome(pretended: Pretended) -> str:
    return f"{pretended.outcome:.2f} (p {pretended.p:.2g})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())

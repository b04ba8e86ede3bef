"""`python -m lab.agentdojo`: compares verdicts on AgentDojo's tasks with those of AgentDojo's own grader.

Exit code 1 if the verdicts on a run differ and `differences.py` has no reason.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Final

from concord_agentdojo.attacks import INJECTION_TASKS
from concord_agentdojo.checks import USER_TASKS
from concord_agentdojo.suite import ATTACKS, Suite, export_suite, parse_suite
from lab.agentdojo.runs import Run, runs_of_injection_task, runs_of_pair, runs_of_user_task
from lab.agentdojo.sample import write_sample
from lab.agentdojo.tables import Compared, tables_of, unexplained
from lab.agentdojo.verdicts import Verdict, verdicts
from lab.benchmarks.tables import write_section

ROOT: Final = Path(__file__).parents[2]
DOCUMENT: Final = ROOT / "docs/agentdojo.md"
ENVIRONMENT: Final = ROOT / ".venv-agentdojo"
VERSION: Final = "0.1.35"
SECTION: Final = "parity"
GRADER: Final = Path(__file__).with_name("grade.py")
GRADER_TIMEOUT_S: Final = 1800


def main() -> int:
    """Reads the arguments and compares. Returns 1 if verdicts differ without a reason."""
    parser = argparse.ArgumentParser("lab.agentdojo", description=__doc__)
    parser.add_argument("--python", type=Path, help=f"of an environment with agentdojo (default: {ENVIRONMENT})")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {DOCUMENT}, and the tests' sample")
    arguments = parser.parse_args()
    python = arguments.python or _installed()
    suite = parse_suite(asyncio.run(export_suite(python, ATTACKS[0])))
    runs = list(all_runs(suite))
    found = compared(suite, runs, python, arguments.processes)
    tables = tables_of(suite, found)
    sys.stdout.write("\n".join(table.markdown() for table in tables))
    if arguments.write:
        write_section(DOCUMENT, SECTION, tables)
        write_sample(suite, found)
    left = [str(each) for each in unexplained(found)]
    sys.stdout.writelines(f"differs without a reason: {each}\n" for each in left)
    return int(bool(left))


def _installed() -> Path:
    """The Python of the environment with AgentDojo, which is made if it does not exist yet.

    Its dependencies are not locked, because no part of Concord runs in this environment.
    """
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "ready").exists():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"agentdojo=={VERSION}"], check=True)
        (ENVIRONMENT / "ready").touch()
    return python


def all_runs(suite: Suite) -> Iterator[Run]:
    """Runs of every user task, of every injection task, and of their pairs."""
    yield from chain.from_iterable(runs_of_user_task(suite, name) for name in suite.user_tasks)
    yield from chain.from_iterable(runs_of_injection_task(suite, name) for name in suite.injection_tasks)
    for user_task in USER_TASKS:
        yield from chain.from_iterable(runs_of_pair(suite, user_task, name) for name in INJECTION_TASKS)


def compared(suite: Suite, runs: Sequence[Run], python: Path, processes: int) -> list[Compared]:
    """Both verdicts on each run. Concord has none on a run that the environment cannot represent."""
    size = -(-len(runs) // processes)
    parts = [runs[start : start + size] for start in range(0, len(runs), size)]
    with ProcessPoolExecutor(processes) as pool:
        theirs = pool.map(graded, parts, [suite] * len(parts), [python] * len(parts))
        ours = pool.map(_judged, [suite] * len(parts), parts)
        pairs = zip(runs, chain.from_iterable(theirs), chain.from_iterable(ours), strict=True)
        return [Compared(*each) for each in pairs]


def graded(runs: Sequence[Run], suite: Suite, python: Path) -> list[Verdict]:
    """AgentDojo's verdicts."""
    document = {
        "version": suite.benchmark_version,
        "attack": suite.attack,
        "runs": [run.document() for run in runs],
    }
    done = subprocess.run(
        [python, GRADER],
        input=json.dumps(document),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=GRADER_TIMEOUT_S,
    )
    return [Verdict(**each) for each in json.loads(done.stdout)]


def _judged(suite: Suite, runs: Sequence[Run]) -> list[Verdict | None]:
    found = iter(asyncio.run(verdicts(suite, [run for run in runs if is_representable(run)])))
    return [next(found) if is_representable(run) else None for run in runs]


def is_representable(run: Run) -> bool:
    """Whether the environment has all that a run's tasks need."""
    return run.user_task in USER_TASKS and (run.injection_task is None or run.injection_task in INJECTION_TASKS)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m lab.containers quick|full`: assessments of agents in containers, undisturbed and disturbed.

Exit code 0 if every case ends as it should, 1 if one does not, and 2 if there is no container engine.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.containers.assessment import UnclearError, assess
from lab.containers.cases import CASES, Case
from lab.containers.project import EngineError, Project, images
from tests.kit.redis_servers import engine_answers

KEPT: Final = Path("output/container_gate")
"""The folder for the logs of a run with a failed case."""


@dataclass(frozen=True, slots=True)
class Result:
    """A case, its outcome, the seconds of its assessment, and whether the outcome is as expected."""

    case: str
    happened: str
    seconds: float
    good: bool

    @property
    def verdict(self) -> str:
        return "as expected" if self.good else "WRONG"


def run(case: Case, project: Project, built: Mapping[str, str], logs: Path) -> Result:
    """Runs one case. Saves the containers' logs if it goes wrong."""
    logs.mkdir(parents=True)
    began = time.monotonic()
    try:
        participant = None if case.image is None else {"image": built[case.image], "env": dict(case.env)}
        project.start(participant, case.config)
        began = time.monotonic()
        outcome = assess(project, logs / "client.log", case.limit_s, case.meanwhile)
        result = Result(case.name, case.check(outcome), outcome.seconds, good=True)
    except (UnclearError, EngineError) as error:
        project.save_logs(logs)
        result = Result(case.name, str(error), time.monotonic() - began, good=False)
    return result


def table(results: list[Result]) -> str:
    """The results as a table in Markdown."""
    lines = ["| case | what happened | seconds | verdict |", "|---|---|---:|---|"]
    lines += [f"| {each.case} | {each.happened} | {each.seconds:.0f} | {each.verdict} |" for each in results]
    return "\n".join(lines)


def main() -> int:
    """Reads the arguments, runs the cases, and prints the table. Returns the exit code."""
    parser = argparse.ArgumentParser("lab.containers", description="Assess agents in containers.")
    parser.add_argument("extent", choices=["quick", "full"])
    parser.add_argument("--case", action="append", help="only the cases whose name contains this text")
    arguments = parser.parse_args()
    if not engine_answers():
        print("no container engine answers: start Docker", file=sys.stderr)
        return 2
    chosen = [each for each in CASES if each.quick or arguments.extent == "full"]
    if arguments.case:
        chosen = [each for each in chosen if any(part in each.name for part in arguments.case)]
    folder = Path(tempfile.mkdtemp(prefix="concord-gate-"))
    results: list[Result] = []
    began = time.monotonic()
    try:
        _tell(began, "building the images")
        with images(folder / "build.log") as built:
            project = Project(folder / "project", built)
            try:
                for number, case in enumerate(chosen, start=1):
                    _tell(began, f"{number}/{len(chosen)} {case.name}")
                    results.append(run(case, project, built, folder / f"{number:02}-{case.name.replace(' ', '-')}"))
                    _tell(began, f"    {results[-1].verdict}: {results[-1].happened}")
            finally:
                project.remove()
    finally:
        good = len(results) == len(chosen) and all(each.good for each in results)
        if not good:
            shutil.rmtree(KEPT, ignore_errors=True)
            shutil.copytree(folder, KEPT)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{table(results)}\n")
    print("all cases are as they should be" if good else f"the logs are in {KEPT}")
    return 0 if good else 1


def _tell(began: float, text: str) -> None:
    print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

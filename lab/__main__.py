"""`python -m lab NAME [--short] [ARGUMENTS…]`: runs one part of the laboratory; without a name, lists all.

`--short` takes the part's short form, of at most five minutes. ARGUMENTS are the part's own; `NAME --help` lists them.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
EXAMPLES: Final = ("concord-agentdojo", "concord-published", "concord-research")
"""Examples whose packages are measured, and not installed."""


class Part(NamedTuple):
    """What `python -m` runs, and the arguments that make it short.

    `seconds`: of the short and of the whole form on two cores, without the installation of what it needs.
    """

    purpose: str
    module: str
    short: tuple[str, ...]
    seconds: tuple[int, int]
    whole: tuple[str, ...] = ()
    needs: str = ""
    instead: str = ""
    """What the short form runs in the place of `module`."""

    def command(self, *, short: bool, arguments: Sequence[str]) -> list[str]:
        """The words after `python -m`. Arguments of the caller take the place of those of the whole form."""
        module = (self.instead or self.module) if short else self.module
        return [module, *(self.short if short else () if arguments else self.whole), *arguments]


_SUITES: Final = ("pool", "pipeline", "all-to-all", "agree", "judge-together", "standard-1")
_AUDITED: Final = ("audit", "scenarios", "scenarios/assistant", *_SUITES)
_PYTEST: Final = ("-p", "no:schemathesis", "-q")

_SEARCHED: Final = (*_PYTEST, "-m", "hypothesis", "--hypothesis-profile=search")

PARTS: Final[Mapping[str, Part]] = {
    "agentdojo": Part(
        "verdicts on AgentDojo's tasks beside those of its own grader",
        "lab.agentdojo",
        ("lab/agentdojo", *_PYTEST),
        (17, 900),
        needs="agentdojo from the package index",
        instead="pytest",
    ),
    "attacks": Part(
        "attacks on a stack, its own or a given one, and which of them held",
        "lab.attacks",
        ("own assessment", "forged token", "own ports", "token in row", "deep JSON"),
        (33, 120),
    ),
    "audit": Part(
        "`concord audit` of the shipped suites and scenarios: no attack on them may earn points",
        "concord_cli",
        (*_AUDITED, "--instances=6"),
        (60, 120),
        whole=_AUDITED,
    ),
    "benchmarks": Part(
        "speed, memory, and the judge's defences, by section; `compare OLD NEW` compares two trees",
        "lab.benchmarks",
        ("defences",),
        (25, 3600),
    ),
    "causes": Part(
        "single faults planted in teams: their causes must be found",
        "lab.suites.causes",
        ("--tasks=1", "--families=maximum,meeting"),
        (56, 900),
    ),
    "columns": Part(
        "the columns of traces beside an evaluation of records in plain Python: both tell the same",
        "pytest",
        ("lab/columns", *_PYTEST),
        (10, 20),
        whole=("lab/columns", *_SEARCHED),
    ),
    "containers": Part(
        "assessments in containers while parts fail (`scripts/e2e_test.sh`)",
        "lab.containers",
        ("quick",),
        (300, 1800),
        whole=("full",),
        needs="Docker with Compose",
    ),
    "diagnosis": Part(
        "the frozen rules of diagnosis; on corpora (FOLDER…), what they find, or what a model says (--judge)",
        "lab.diagnosis",
        (),
        (2, 2),
    ),
    "difficulty": Part(
        "the difficulty of all items for a population of scripted teams, and the choice of standard-2",
        "lab.suites.difficulty",
        ("--families=maximum,meeting",),
        (217, 3600),
    ),
    "forms": Part(
        "the forms of answers and messages that each family reads",
        "lab.suites.forms",
        (),
        (20, 20),
    ),
    "frameworks": Part(
        "records the traces of agent frameworks anew (SET-UP…)",
        "lab.frameworks",
        ("a2a-sdk-delegation",),
        (60, 3600),
        needs="the frameworks from the package index",
    ),
    "fuzz": Part(
        "valid and invalid requests by the services' OpenAPI documents (MINUTES [SERVICE…])",
        "lab.fuzz",
        ("lab/fuzz", "-q", "--numprocesses=auto", "--maxprocesses=4"),
        (290, 3000),
        whole=("10",),
        instead="pytest",
    ),
    "importers": Part(
        "the tests of the importers of published tasks",
        "pytest",
        ("examples/concord-published", *_PYTEST),
        (10, 30),
        whole=("examples/concord-published", *_PYTEST),
    ),
    "interop": Part(
        "agents on other A2A libraries, assessed as peers (ENVIRONMENT…)",
        "lab.interop",
        ("a2a-sdk-1.0",),
        (60, 900),
        needs="the libraries from the package index, and npm",
    ),
    "interpreters": Part(
        "an assessment on each supported Python, verified on all of them",
        "lab.interpreters",
        ("--ends",),
        (60, 180),
        needs="two Pythons",
    ),
    "laws": Part(
        "the laws of the tests with other examples than `make test` has, other ones in each run",
        "pytest",
        ("tests/unit/evaluator/test_added_reports.py", *_SEARCHED),
        (10, 300),
        whole=("tests/unit", *_SEARCHED, "--numprocesses=auto"),
    ),
    "mutation": Part(
        "faults planted in seats, networks and tools: found by kind, place and step",
        "lab.suites.mutation",
        ("--tasks=1", "--families=maximum,meeting"),
        (125, 900),
    ),
    "office": Part(
        "days of the office, played in right and wrong ways: no wrong one may pass",
        "lab.office",
        ("--days=1", "--ways=4", "--oracles=15"),
        (275, 3600),
    ),
    "own-tasks": Part(
        "faults planted in own tasks: who is named for them",
        "lab.own_tasks",
        ("--trials=20",),
        (7, 300),
    ),
    "real-model": Part(
        "a small language model in every place that a model can take (PATH…)",
        "lab.real_model",
        ("judge",),
        (120, 600),
        needs=".venv-real-model, which it installs",
    ),
    "score-table": Part(
        "the scores of example teams and of cheats, for docs/scoring.md",
        "lab.benchmarks.scores.score_table",
        ("--teams=2",),
        (61, 240),
    ),
    "suites": Part(
        "every family of tasks with scripted teams: none may be unfit",
        "lab.suites",
        (
            "--families=maximum,prefix-sums,shortest-path,majority,hidden-profile",
            "--instances=4",
            "--pretended=50",
            "--ladders=8",
        ),
        (120, 1800),
    ),
    "tck": Part(
        "the A2A compatibility kit (FOLDER…) on Concord's server and on the bare SDK",
        "lab.tck",
        ("lab/tck", *_PYTEST),
        (25, 300),
        needs="copies of the kit",
        instead="pytest",
    ),
    "tests": Part(
        "the tests of the laboratory's own code",
        "pytest",
        ("lab", "--ignore=lab/fuzz", *_PYTEST),
        (130, 130),
        whole=("lab", "--ignore=lab/fuzz", *_PYTEST),
    ),
}


def listed() -> Iterator[str]:
    """A line for each part: its name, how long its forms take, its purpose, and what it needs."""
    yield f"{'name':<14}{'short':>7}{'whole':>8}"
    for name, part in PARTS.items():
        short, whole = map(_duration, part.seconds)
        yield f"{name:<14}{short:>7}{whole:>8}  {part.purpose}" + (f"; needs {part.needs}" if part.needs else "")


def _duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def main(words: Sequence[str]) -> int:
    """Runs the named part, and returns its exit code."""
    if not words or words[0] in {"-h", "--help"}:
        print(__doc__, *listed(), sep="\n")
        return 0
    name, *arguments = words
    if name not in PARTS:
        print(f"no part of the laboratory is named {name}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    command = PARTS[name].command(short="--short" in arguments, arguments=[*_without(arguments, "--short")])
    path = [*(str(ROOT / "examples" / each) for each in EXAMPLES), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=environment, check=False).returncode


def _without(words: Sequence[str], word: str) -> Iterator[str]:
    return (each for each in words if each != word)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

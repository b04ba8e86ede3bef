"""The protocol of diagnosis: `python -m lab.diagnosis FOLDER…`, each folder a corpus. See `docs/diagnosis.md`.

`--freeze` writes the digest of the rules that the corpora are measured with. Exit status 1: the rules are not the
frozen ones, more than 5 % of successes are accused, or names of agents matter.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from lab.diagnosis.frozen import FILE, digest_of_rules
from lab.diagnosis.labels import labels_in
from lab.diagnosis.measures import against_labels, against_outcomes, cases_in, changed_by_renaming
from tests.kit.packages import research_formats

MAX_ACCUSED: Final = 0.05


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.diagnosis")
    parser.add_argument("corpora", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--freeze", action="store_true", help="freeze the rules as they are")
    arguments = parser.parse_args()
    digest = digest_of_rules()
    if arguments.freeze:
        FILE.write_text(f"{digest}\n", encoding="utf-8")
    frozen = FILE.read_text(encoding="utf-8").strip()
    _say(f"rules {digest}" + ("" if digest == frozen else f", not the frozen ones ({frozen})"))
    with research_formats():
        return int(any([digest != frozen, *[_measured(folder) for folder in arguments.corpora]]))


def _say(line: str) -> None:
    Console().print(Text(line), soft_wrap=True)


def _measured(folder: Path) -> bool:
    """Prints the measures of a corpus. Returns whether it misses a goal."""
    cases = cases_in(folder)
    _say(f"\n{folder.name}: {len(cases)} traces")
    for name, value in against_outcomes(cases):
        _say(f"  {name:<52} {value}")
    try:
        labels = list(labels_in(folder))
    except ValidationError:
        labels = []
    for name, value in against_labels(cases, labels) if labels else ():
        _say(f"  {name:<52} {value}")
    changed = changed_by_renaming(cases)
    _say(f"  {'traces changed by other names of the agents':<52} {changed}")
    succeeded = [case for case in cases if case.trace.task_success == 1]
    accused = sum(bool(case.found.causes) for case in succeeded)
    return changed > 0 or accused > MAX_ACCUSED * len(succeeded)


if __name__ == "__main__":
    sys.exit(main())

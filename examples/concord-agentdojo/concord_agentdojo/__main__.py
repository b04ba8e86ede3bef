"""`concord-agentdojo FOLDER`: writes AgentDojo's workspace suite as scenarios for Concord's assistants."""

import argparse
import asyncio
import sys
from pathlib import Path

from concord_agentdojo.scenarios import LICENCE_FILE, chosen, imported, left_out, write_scenarios
from concord_agentdojo.suite import ATTACKS, SuiteError, export_suite, parse_suite

_DESCRIPTION = """\
Writes AgentDojo's workspace suite as scenarios: its user tasks, or with --attack each of them with each injection task.
"""


def main(arguments: list[str] | None = None) -> None:
    """Reads the arguments and imports. Exits with 2 if the suite cannot be had, 1 if the folder cannot be written."""
    parser = argparse.ArgumentParser("concord-agentdojo", description=_DESCRIPTION)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write the scenarios' folders")
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(sys.executable),
        metavar="PATH",
        help="the Python of an environment that has the package agentdojo (default: the one that runs this command)",
    )
    parser.add_argument(
        "--attack", choices=ATTACKS, metavar="NAME", help=f"import the attacked tasks: {', '.join(ATTACKS)}"
    )
    given = parser.parse_args(arguments)
    try:
        sys.stdout.writelines(f"{line}\n" for line in import_suite(given.folder, given.python, given.attack))
    except SuiteError as error:
        parser.exit(2, f"concord-agentdojo: {error}\n")
    except OSError as error:
        parser.exit(1, f"concord-agentdojo: {error.filename}: {error.strerror}\n")


def import_suite(folder: Path, python: Path, attack: str | None) -> list[str]:
    """Writes the scenarios. Returns what to tell the user. Raises SuiteError, OSError."""
    suite = parse_suite(asyncio.run(export_suite(python, attack or ATTACKS[0])))
    scenarios = [imported(suite, *tasks) for tasks in chosen(suite, attacked=attack is not None)]
    write_scenarios(folder, suite, scenarios)
    return [
        *(
            f"{task} is left out, because the environment has no files: it {reason}"
            for task, reason in left_out(suite).items()
        ),
        f"{len(scenarios)} scenarios of AgentDojo {suite.package_version}, benchmark {suite.benchmark_version}, are in "
        f"{folder}, each with AgentDojo's licence in {LICENCE_FILE}",
    ]


if __name__ == "__main__":
    main()

"""The distribution: its packages, its extras, and what is installed where."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions, requires, version
from pathlib import Path

import pytest

from concord.version import VERSION
from locks.licences import locked_packages

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
BUILD = PROJECT["tool"]["hatch"]["build"]
PACKAGES = [ROOT / path for path in BUILD["targets"]["wheel"]["packages"]]

LOCK_OF = {
    "concord_assistant": "gateway",
    "concord_cli": "green",
    "concord_collector": "collector",
    "concord_environment": "environment",
    "concord_environment_client": "purple",
    "concord_evaluator": "evaluator",
    "concord_gateway": "gateway",
    "concord_purple": "purple",
    "concord_suites": "sample",
}
"""The lock file of the image that runs a package."""


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(lock: str) -> set[str]:
    return {each.name for each in locked_packages() if lock in each.images}


distributions = cache(packages_distributions)
"""The distributions of each module, of which all that are installed are read."""


def imported(folder: Path) -> Iterator[str]:
    """The top-level names of the modules that a package imports."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (each.name.partition(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


def test_the_distribution_has_every_package_and_an_editable_installation_finds_it() -> None:
    found = {path.parent for path in ROOT.glob("*/concord*/__init__.py")}
    found |= {path.parent for path in ROOT.glob("services/*/concord*/__init__.py")}
    assert found == set(PACKAGES)
    assert {path.parent for path in found} == {ROOT / path for path in BUILD["dev-mode-dirs"]}


def test_the_installed_version_is_that_of_the_source() -> None:
    assert version("concord-agents") == VERSION


def test_the_changelog_lists_the_version_below_what_is_unreleased() -> None:
    headings = re.findall(r"^## \[(.*?)\](?: - \d{4}-\d{2}-\d{2})?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[:2] == ["Unreleased", VERSION]


def test_a_reporting_agent_needs_two_packages() -> None:
    base = [each for each in requires("concord-agents") or () if "extra ==" not in each]
    assert sorted(re.split(r"\W", each)[0] for each in base) == ["httpx", "pydantic"]


def test_the_extra_of_everything_includes_all_others() -> None:
    def closure(extra: str) -> set[str]:
        inner = {
            name
            for each in EXTRAS[extra]
            if (match := re.match(r"concord-agents\[(.*)\]", each))
            for name in match[1].split(",")
        }
        return {extra}.union(*map(closure, inner))

    assert closure("all") == set(EXTRAS) - {"tables"}, "pyarrow is as large as all the rest"


@pytest.mark.parametrize("package", PACKAGES[1:], ids=lambda path: path.name)
def test_an_image_has_what_its_package_imports(package: Path) -> None:
    third_party = {
        normalised(distribution)
        for name in set(imported(package)) - sys.stdlib_module_names
        if not name.startswith("concord")
        for distribution in distributions().get(name, ())
    }
    # Namespaces, of which only one package is imported.
    third_party -= {name for name in third_party if name.startswith(("google", "opentelemetry", "proto", "backports"))}
    assert third_party
    assert third_party - locked(LOCK_OF[package.name]) == set()


@pytest.mark.parametrize(
    ("lock", "absent"),
    [
        ("client", {"redis", "networkx", "numpy", "openai", "ical"}),
        ("collector", {"networkx", "openai", "a2a-sdk", "typer"}),
        ("environment", {"redis", "networkx", "numpy", "openai", "a2a-sdk", "typer"}),
        ("evaluator", {"a2a-sdk", "ical", "typer"}),
        ("gateway", {"networkx", "numpy", "typer"}),
        ("purple", {"redis", "networkx", "numpy", "typer"}),
        ("sample", {"redis", "networkx", "numpy", "openai", "typer"}),
    ],
)
def test_an_image_has_only_what_it_runs(lock: str, absent: set[str]) -> None:
    names = locked(lock)
    assert names
    assert names & absent == set()


PROGRAMS = {
    "client": "concord_cli.main, concord_cli.assessing, concord_cli.report.command",
    "collector": "concord_collector.__main__",
    "environment": "concord_environment.__main__",
    "evaluator": "concord_evaluator.__main__",
    "gateway": "concord_gateway.__main__",
    "green": "concord_cli.program",
    "purple": "concord_purple.__main__",
    "sample": "concord_suites.agent",
}
"""The modules that start what an image runs."""


@pytest.mark.programs
@pytest.mark.parametrize("lock", PROGRAMS)
def test_the_program_of_an_image_can_be_imported_with_the_packages_of_its_lock_file_alone(lock: str) -> None:
    names = locked(lock)
    absent = [
        module
        for module, found in distributions().items()
        if names.isdisjoint(map(normalised, found)) and not module.startswith(("concord", "_"))
    ]
    assert "pytest" in absent
    program = f"import sys; sys.modules.update(dict.fromkeys({absent})); import {PROGRAMS[lock]}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def concord_without(modules: list[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code and both outputs of `concord` where some modules are not installed."""
    program = f"import sys; sys.modules.update(dict.fromkeys({modules})); from concord_cli.__main__ import main; main()"
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.programs
def test_without_the_packages_of_the_command_line_one_line_names_their_extra() -> None:
    line = "`concord` needs the module typer: pip install 'concord-agents[cli]'\n"
    assert concord_without(["typer"], "--help") == (2, "", line)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("command", "module", "extras"),
    [
        ("run", "aiolimiter", "green"),
        ("serve --separate", "networkx", "green"),
        ("serve", "tenacity", "green"),
        ("evaluate -", "networkx", "evaluator"),
        ("evaluate --watch", "rustworkx", "evaluator"),
        ("scenario lint --play scenarios/assistant/first_day", "sortedcontainers", "environment"),
        ("verify results.json", "tenacity", "evaluator,gateway"),
    ],
)
def test_a_command_without_its_packages_names_the_extra_to_install(command: str, module: str, extras: str) -> None:
    name = "scenario lint --play" if command.startswith("scenario") else command.partition(" ")[0]
    line = f"concord: `concord {name}` needs the module {module}: pip install 'concord-agents[{extras}]'"
    code, _, error = concord_without([module], *command.split())
    assert (code, error.splitlines()[-1]) == (2, line)

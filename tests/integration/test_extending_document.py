"""`docs/extending.md`: the packages that it builds are those in `examples/`, can be installed, and do what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/concord-text"
SUITE_EXAMPLE = ROOT / "examples/concord-lamps"
TEXT, SUITE_TEXT = (ROOT / "docs/extending.md").read_text(encoding="utf-8").split("\n## A suite\n")

FILE = re.compile(r"^`([\w./-]+)`(?:, continued)?:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


def files(document: str) -> dict[str, str]:
    """A package's files as a part of the document gives them; files in several pieces are put together."""
    found: dict[str, str] = {}
    for name, text in FILE.findall(document):
        found[name] = found.get(name, "") + text
    return found


def blocks(language: str, document: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document, re.MULTILINE | re.DOTALL)


def written_to(folder: Path, document: str) -> Path:
    """A folder with the files of a part of the document."""
    for name, text in files(document).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the first package."""
    return written_to(tmp_path_factory.mktemp("package"), TEXT)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `pip` installs offline into a folder of the test's own, where Python looks too."""
    site = str(tmp_path_factory.mktemp("site"))
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INDEX": "1",
        "PIP_TARGET": site,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": os.pathsep.join([site, os.environ.get("PYTHONPATH", "")]),
    }


@pytest.mark.parametrize(
    ("document", "example"), [(TEXT, EXAMPLE), (SUITE_TEXT, SUITE_EXAMPLE)], ids=["concord-text", "concord-lamps"]
)
def test_the_files_in_the_document_are_those_of_the_example(document: str, example: Path) -> None:
    kept = {
        str(path.relative_to(example)): path.read_text(encoding="utf-8")
        for path in example.rglob("*")
        if path.suffix in {".py", ".toml"}
    }
    assert files(document) == kept


def run(lines: str, folder: Path, environment: dict[str, str]) -> str:
    """What commands print that succeed without a warning."""
    done = subprocess.run(["bash", "-eu", "-c", lines], cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_suite_is_found_by_its_entry_point_and_generates_and_grades_as_shown(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    [lines], [expected] = blocks("sh", SUITE_TEXT), blocks("text", SUITE_TEXT)
    assert run(lines, written_to(tmp_path, SUITE_TEXT), environment) == expected


@pytest.mark.programs
def test_the_commands_print_the_shown_output_and_the_packages_tests_pass(
    package: Path, environment: dict[str, str]
) -> None:
    commands, outputs = blocks("sh", TEXT), blocks("text", TEXT)
    assert len(outputs) == len(commands) == 3
    for lines, expected in zip(commands, outputs, strict=True):
        assert run(lines, package, environment) == expected

    [summary] = re.findall(r"^    \$ pytest --quiet\n    (.*)$", TEXT, re.MULTILINE)
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "--quiet"], cwd=package, env=environment, capture_output=True, text=True
    )
    assert tested.returncode == 0, tested.stdout
    assert tested.stdout.splitlines()[-1].startswith(f"{summary} in ")


WORKER = ["concord_evaluator", "--queue", "fast"]


@pytest.mark.parametrize(
    ("program", "plugin"),
    [(["concord_cli", "evaluate", "docs/scoring.md"], "evaluator"), (WORKER, "evaluator"), (WORKER, "scorer")],
    ids=["evaluator in the command", "evaluator in a worker", "scorer in a worker"],
)
def test_a_package_that_cannot_be_loaded_is_named_on_one_line(tmp_path: Path, program: list[str], plugin: str) -> None:
    about = tmp_path / "broken-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[concord.{plugin}s]\nmine = nowhere:MINE\n")
    done = subprocess.run(
        [sys.executable, "-m", *program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        f"broken: the {plugin} 'mine' cannot be loaded: No module named 'nowhere'"
    )

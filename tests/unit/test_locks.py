"""The lock files: every entry has a version and hashes, and none names an index or a path."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "locks"
OWN = sorted(path for path in FOLDER.glob("*.txt") if path.name != "editable.txt")
LOCKS = [*OWN, *sorted(FOLDER.parent.glob("lab/benchmarks/peers/*.txt"))]
INSTALLED = [path for path in OWN if path.stem not in {"a2a-v03", "dev", "real-model", "release", "sbom"}]
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[.*\])?==(\S+)(?: ; .*)? \\$")


def pins(lock: Path) -> set[tuple[str, str]]:
    """Names and versions; one name may have several, for different Pythons."""
    return {(match[1], match[2]) for line in lock.read_text().splitlines() if (match := PIN.match(line))}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_entry_is_a_version_with_hashes(lock: Path) -> None:
    entries = re.split(r"\n(?=[^\s#])", lock.read_text())[1:]
    assert entries
    for entry in entries:
        first, second, *_ = entry.splitlines()
        assert PIN.match(first), first
        assert second.startswith("    --hash=sha256:"), first


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_no_entry_names_an_index_or_a_path(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert not re.search(r"^\s*(-e|-i|-f|--index-url|--extra-index-url|--find-links)\b", text, re.MULTILINE)
    assert not re.search(r"[\s@=]/\w", text)


@pytest.mark.parametrize("lock", INSTALLED, ids=lambda path: path.name)
def test_an_image_and_a_run_have_the_versions_of_the_development_environment(lock: Path) -> None:
    assert pins(lock) <= pins(FOLDER / "dev.txt")


def test_no_package_downgrades_the_job_queue() -> None:
    versions = dict(pins(FOLDER / "dev.txt"))
    assert tuple(map(int, versions["arq"].split(".")[:2])) >= (0, 28)
    assert int(versions["redis"].split(".")[0]) == 5


def test_the_old_a2a_client_has_the_platforms_version() -> None:
    assert ("a2a-sdk", "0.3.26") in pins(FOLDER / "a2a-v03.txt")

"""The licences of the dependencies: the page lists every locked package, and each licence is allowed."""

import re
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from locks.licences import DOCUMENT, installed_licences, is_allowed, licence_of, locked_packages

ROW = re.compile(r"^\| ([a-z0-9._-]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)


def listed() -> dict[str, tuple[str, str]]:
    """The versions and the licence of each package on the page."""
    return {name: (versions, licence) for name, versions, licence in ROW.findall(DOCUMENT.read_text(encoding="utf-8"))}


def test_every_locked_package_is_listed_with_its_versions() -> None:
    locked = {each.name: ", ".join(each.versions) for each in locked_packages()}
    assert {name: versions for name, (versions, _) in listed().items()} == locked


def test_every_listed_licence_is_allowed() -> None:
    assert [(name, licence) for name, (_, licence) in listed().items() if not is_allowed(licence)] == []


def test_the_page_agrees_with_the_metadata_of_the_installed_packages() -> None:
    installed, page = installed_licences([Path(sys.prefix)]), listed()
    single = {name for name, (versions, _) in page.items() if "," not in versions}
    assert len(single & installed.keys()) > 100
    assert {name: page[name][1] for name in single & installed.keys()} == {
        name: installed[name] for name in single & installed.keys()
    }


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ("License-Expression: MIT OR Apache-2.0", "MIT OR Apache-2.0"),
        ("Classifier: License :: OSI Approved :: ISC License (ISCL)", "ISC"),
        ("Classifier: License :: DFSG approved\nClassifier: License :: OSI Approved :: MIT License", "MIT"),
        ("License: Apache 2", "Apache-2.0"),
        ("License: GPL-3.0", None),
        ("Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)", None),
        ("Summary: says nothing", None),
    ],
)
def test_a_licence_is_read_from_the_metadata(metadata: str, licence: str | None, tmp_path: Path) -> None:
    (tmp_path / "METADATA").write_text(f"Metadata-Version: 2.4\nName: x\nVersion: 1\n{metadata}\n")
    assert licence_of(PathDistribution(tmp_path).metadata) == licence


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("Apache-2.0 AND CNRI-Python", True),
        ("unknown", False),
    ],
)
def test_an_expression_is_allowed_if_one_alternative_is(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed

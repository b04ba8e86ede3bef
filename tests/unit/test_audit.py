"""What the audit of the lock files makes of a report: an advisory fails it, and so does what nobody knows."""

from typing import Any

import pytest

from locks.audit import read

WELL: dict[str, Any] = {"name": "a", "version": "1", "vulns": []}
ILL: dict[str, Any] = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["2.1"], "aliases": []}]}
UNKNOWN: dict[str, Any] = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "code"), [([WELL], 0), ([WELL, ILL], 1), ([WELL, UNKNOWN], 1), ([UNKNOWN], 1), ([ILL, UNKNOWN], 1)]
)
def test_only_what_is_known_to_be_well_passes(packages: list[dict[str, Any]], code: int) -> None:
    assert read({"dependencies": packages}).code == code


def test_an_advisory_is_named_with_the_version_that_fixes_it() -> None:
    assert str(read({"dependencies": [WELL, ILL, UNKNOWN]})).splitlines() == [
        "b 2: CVE-1, fixed in 2.1",
        "not known to the advisory service: c",
        "packages: 2, advisories: 1",
    ]


def test_a_service_that_knows_no_package_is_none() -> None:
    assert read({"dependencies": [UNKNOWN]}).audited == 0

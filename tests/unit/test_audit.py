"""The audit of the lock files: an advisory fails it, and so does a package that the advisory service does not know."""

from typing import Any

import pytest

from locks.audit import read

SOUND: dict[str, Any] = {"name": "a", "version": "1", "vulns": []}
VULNERABLE: dict[str, Any] = {
    "name": "b",
    "version": "2",
    "vulns": [{"id": "CVE-1", "fix_versions": ["2.1"], "aliases": []}],
}
UNKNOWN: dict[str, Any] = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "code"),
    [([SOUND], 0), ([SOUND, VULNERABLE], 1), ([SOUND, UNKNOWN], 1), ([UNKNOWN], 1), ([VULNERABLE, UNKNOWN], 1)],
)
def test_only_known_packages_without_advisories_pass(packages: list[dict[str, Any]], code: int) -> None:
    assert read({"dependencies": packages}).code == code


def test_an_advisory_is_named_with_the_version_that_fixes_it() -> None:
    assert str(read({"dependencies": [SOUND, VULNERABLE, UNKNOWN]})).splitlines() == [
        "b 2: CVE-1, fixed in 2.1",
        "not known to the advisory service: c",
        "packages: 2, advisories: 1",
    ]


def test_unknown_packages_do_not_count_as_audited() -> None:
    assert read({"dependencies": [UNKNOWN]}).audited == 0

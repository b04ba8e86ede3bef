"""`python -m locks.audit`: looks up advisories on all packages that the lock files pin; exit code 1 if there is one.

Without an advisory service the audit is omitted, which is printed, with exit code 0.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
FIRST: Final = ("build.txt",)
"""Audited first, to see whether an advisory service answers."""

ALL: Final = ("dev.txt", "a2a-v03.txt", "release.txt", "sbom.txt")
"""All other lock files pin only packages that these pin too."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of an audit of pinned packages."""

    audited: int
    skipped: Sequence[str]
    """Packages that the advisory service does not know."""
    advisories: Sequence[str]
    """The advisories, a line each."""

    @property
    def code(self) -> int:
        """The exit code: 0 if all packages are known and none has an advisory."""
        return 1 if self.skipped or self.advisories else 0

    def __str__(self) -> str:
        skipped = [f"not known to the advisory service: {name}" for name in self.skipped]
        return "\n".join([*self.advisories, *skipped, f"packages: {self.audited}, advisories: {len(self.advisories)}"])


def read(report: dict[str, Any]) -> Findings:
    """The findings in a report of pip-audit."""
    packages = report["dependencies"]
    known = [package for package in packages if "vulns" in package]
    return Findings(
        audited=len(known),
        skipped=[package["name"] for package in packages if "vulns" not in package],
        advisories=[
            f"{package['name']} {package['version']}: {advisory['id']}, fixed in "
            f"{', '.join(advisory['fix_versions']) or 'no version yet'}"
            for package in known
            for advisory in package["vulns"]
        ],
    )


def audit(locks: Sequence[str]) -> Findings | None:
    """The findings on the packages in lock files; None without an answer of an advisory service."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        requirements = [word for lock in locks for word in ("--requirement", str(FOLDER / lock))]
        command = [sys.executable, "-m", "pip_audit", "--disable-pip", *requirements, "--progress-spinner", "off"]
        subprocess.run(  # noqa: S603 - our own words
            [*command, "--format", "json", "--output", str(report)], capture_output=True, check=False
        )
        return read(json.loads(report.read_text())) if report.exists() and report.stat().st_size else None


def main() -> int:
    """Audits the lock files. Returns the exit code."""
    first = audit(FIRST)
    if first is None or not first.audited:
        sys.stdout.write("audit of the lock files left out: no advisory service answers\n")
        return 0
    findings = audit(ALL)
    if findings is None:
        sys.stdout.write("the advisory service does not answer any more\n")
        return 1
    sys.stdout.write(f"{findings}\n")
    return findings.code


if __name__ == "__main__":
    sys.exit(main())

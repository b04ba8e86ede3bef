"""`python -m locks.audit`: asks for advisories on all that the lock files pin; exit code 1 if there is one.

Where no advisory service answers, it says so and leaves the audit out: exit code 0.
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
FEW: Final = ("build.txt",)
"""Asked for first, to learn whether anybody answers."""

ALL: Final = ("dev.txt", "a2a-v03.txt")
"""All others pin nothing that these do not."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known of some pinned packages."""

    audited: int
    skipped: Sequence[str]
    """Packages of which nothing is known, not even that nothing is."""
    advisories: Sequence[str]
    """A line each."""

    @property
    def code(self) -> int:
        """The exit code: 0 where all are known, and known to be well."""
        return 1 if self.skipped or self.advisories else 0

    def __str__(self) -> str:
        skipped = [f"not known to the advisory service: {name}" for name in self.skipped]
        return "\n".join([*self.advisories, *skipped, f"packages: {self.audited}, advisories: {len(self.advisories)}"])


def read(report: dict[str, Any]) -> Findings:
    """What a report of pip-audit says."""
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
    """What is known of the packages in lock files; None where the advisory service cannot be asked."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        named = [word for lock in locks for word in ("--requirement", str(FOLDER / lock))]
        command = [sys.executable, "-m", "pip_audit", "--disable-pip", *named, "--progress-spinner", "off"]
        subprocess.run(  # noqa: S603 - our own words
            [*command, "--format", "json", "--output", str(report)], capture_output=True, check=False
        )
        return read(json.loads(report.read_text())) if report.exists() and report.stat().st_size else None


def main() -> int:
    """Audits the lock files. Returns the exit code."""
    first = audit(FEW)
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

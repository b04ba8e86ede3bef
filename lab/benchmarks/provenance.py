"""Where and when figures were measured: commit, machine, load and date."""

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


def commit(tree: Path = ROOT) -> str:
    """The commit of a working tree, and whether it has changes that are not committed; "no commit" outside of Git."""
    found = _git(tree, "rev-parse", "--short=8", "HEAD")
    if not found:
        return "no commit"
    changed = _git(tree, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return f"{found}, with changes" if changed else found


def machine() -> str:
    """The processor, its cores that this process may use, and the Python."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores of {_processor()}, Python {platform.python_version()}"


def today() -> str:
    """The date (UTC)."""
    return datetime.now(UTC).date().isoformat()


def load() -> float:
    """The load of the last minute: the mean number of processes that ran or waited for a core."""
    return os.getloadavg()[0]


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a measurement begins with: the commit may be another when it ends, for its code is loaded by then."""

    commit: str
    load: float

    @classmethod
    def now(cls) -> "Beginning":
        """Of a measurement that begins now."""
        return cls(commit(), load())

    def measured(self) -> str:
        """A sentence on the figures of a measurement that has ended."""
        return (
            f"Measured {today()} at {self.commit} on {machine()}; load {self.load:.1f} before and {load():.1f} after."
        )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _git(tree: Path, *arguments: str) -> str:
    try:
        command = ["/usr/bin/env", "git", *arguments]
        return subprocess.run(command, cwd=tree, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""

"""Runs a copy of the kit, of A2A 1.0 or of 0.3, and reads its figures."""

import asyncio
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Outcome = Literal["passed", "failed", "skipped"]

BINDINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "1.0": {"JSON-RPC": "jsonrpc", "REST": "http_json"},
    "0.3": {"JSON-RPC": "jsonrpc", "REST": "rest"},
}
"""The kit's names of the bindings, by its version."""

_PARTS_03: Final = ("tests/mandatory", "tests/optional/capabilities")


class NoKitError(Exception):
    """A folder is no copy of the kit, or the kit left no figures."""


@dataclass(frozen=True, slots=True)
class Kit:
    """A copy of the kit. `python`: of the environment with its packages."""

    folder: Path
    version: Literal["1.0", "0.3"]
    python: Path

    @classmethod
    def of(cls, folder: Path) -> "Kit":
        """The kit in a folder, whose environment is `.venv` there, if it has one. Raises NoKitError."""
        own = folder / ".venv" / "bin" / "python"
        python = own if own.exists() else Path(sys.executable)
        if (folder / "run_tck.py").is_file():
            if (folder / "tests" / "compatibility").is_dir():
                return cls(folder, "1.0", python)
            if (folder / "tests" / "mandatory").is_dir():
                return cls(folder, "0.3", python)
        raise NoKitError(f"{folder} is no copy of a2a-tck: it has no run_tck.py beside tests of 1.0 or 0.3")

    async def outcomes(self, url: str, binding: str) -> dict[str, Outcome]:
        """The outcome of each test against the agent at a URL, by its name. Raises NoKitError."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "report.xml")
            process = await asyncio.create_subprocess_exec(
                self.python,
                *self._arguments(url, binding, report),
                cwd=self.folder,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            said, _ = await process.communicate()
            try:
                return outcomes_in(report)
            except FileNotFoundError as error:
                raise NoKitError(f"the kit left no report: {said.decode(errors='replace')[-2000:]}") from error

    def _arguments(self, url: str, binding: str, report: Path) -> list[str]:
        transport, junit = BINDINGS[self.version][binding], f"--junitxml={report}"
        if self.version == "1.0":
            return ["run_tck.py", "--sut-host", url, "--transport", transport, "--", junit]
        asked = [f"--sut-url={url}", "--test-scope=all", "--transports", transport]
        return ["-m", "pytest", *(part for part in _PARTS_03 if (self.folder / part).is_dir()), *asked, junit]


def outcomes_in(report: Path) -> dict[str, Outcome]:
    """The outcomes in a JUnit report, by class and name."""
    cases = ET.parse(report).iter("testcase")  # noqa: S314 - a report of a program that this one started
    return {f"{case.get('classname')}::{case.get('name')}": _outcome(case) for case in cases}


def _outcome(case: ET.Element) -> Outcome:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def figures(outcomes: Mapping[str, Outcome]) -> str:
    """`238 passed, 5 failed, 12 skipped`."""
    counted = Counter(outcomes.values())
    return f"{counted['passed']} passed, {counted['failed']} failed, {counted['skipped']} skipped"


def worse(ours: Mapping[str, Outcome], theirs: Mapping[str, Outcome]) -> list[str]:
    """The tests that the SDK passes and Concord does not."""
    return [name for name, outcome in theirs.items() if outcome == "passed" and ours.get(name) != "passed"]

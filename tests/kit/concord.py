"""`concord` as its users run it: a process with its output, its files and the processes that it starts."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from concord.assessment.result_row import ResultRow
from tests.kit.processes import processes_with

ROOT = Path(__file__).parents[2]
QUICK, MESH, BAD = (ROOT / f"scenarios/{name}.toml" for name in ("quick", "mesh", "bad"))


class Concord:
    """A process of `concord` in a folder of its own."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.folder = folder
        self.mark = uuid4().hex
        # Not in pytest's folder: the path of a Unix socket has at most 108 bytes.
        self.temporary = Path(mkdtemp(prefix="concord-e2e-"))
        self.lines: list[str] = []
        self._errors = (folder / f"stderr-{self.mark}").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "concord_cli", *arguments],
            cwd=folder,
            env={
                **bare_environment(),
                "TEST_MARK": self.mark,
                "TMPDIR": str(self.temporary),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def read_until(self, text: str) -> None:
        """Reads the output up to the line with this text. Raises AssertionError if the output ends without it."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            if text in line:
                return
        self.finish()
        raise AssertionError(f"ended without {text!r}:\n{self.output}")

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def finish(self) -> int:
        """Reads the rest of the output and returns the exit code."""
        assert self._process.stdout is not None
        if not self._process.stdout.closed:
            self.lines += self._process.stdout
            self._process.stdout.close()
            self._process.wait()
            self._errors.seek(0)
            self.lines += self._errors
            self._errors.close()
        return self._process.wait()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """The output so far, followed by standard error once the process has ended."""
        return "".join(self.lines)

    @property
    def addresses(self) -> dict[str, str]:
        """The URLs in the output, by name."""
        return dict(re.findall(r"^ *(\w+) +(http://\S+)", self.output, re.MULTILINE))

    def left_behind(self) -> list[object]:
        """The processes that still run and the temporary files that still exist."""
        return [*processes_with(self.mark).values(), *self.temporary.rglob("*")]


def bare_environment() -> dict[str, str]:
    """The environment without variables for Redis, language models, services and agents, which would change a run."""
    prefixes = ("REDIS_URL", "AGENTBEATS_", "CONCORD_", "PURPLE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


@contextmanager
def concord(folder: Path, *arguments: str, **environment: str) -> Iterator[Concord]:
    """Starts `concord`, and interrupts it at the end if it still runs."""
    running = Concord(folder, *arguments, **environment)
    try:
        yield running
    finally:
        running.send(signal.SIGINT)
        running.finish()
        with suppress(OSError):  # leftovers stay for inspection
            running.temporary.rmdir()


def row_in(path: Path) -> ResultRow:
    [row] = json.loads(path.read_text())["results"]
    return ResultRow.model_validate(row)

"""A working tree with an environment of its own, and its programs."""

import os
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.benchmarks.usage import Cost, cost_of

HARNESS: Final = Path(__file__).parents[3]
"""The tree of this module: modules of its benchmarks measure both trees."""

_SETTINGS: Final = ("REDIS_URL", "AGENTBEATS_", "CONCORD_", "PURPLE_")


@dataclass(frozen=True, slots=True)
class Tree:
    """A working tree after `make setup`."""

    path: Path

    @property
    def python(self) -> Path:
        """The interpreter of its environment, which imports the tree's own packages."""
        return self.path / ".venv" / "bin" / "python"

    def cost(self, *words: str | Path, succeeds_with: Collection[int] = (0,)) -> Cost:
        """Runs a module of the tree, such as `concord_cli`. Raises RuntimeError if it fails."""
        return cost_of(
            [self.python, "-m", *words], cwd=self.path, variables=_variables({}), succeeds_with=succeeds_with
        )

    def answer(self, *words: str | Path) -> str:
        """What a module of this harness prints that runs with the tree's packages. Raises CalledProcessError."""
        command = [self.python, "-m", *words]
        done = subprocess.run(command, cwd=HARNESS, env=_variables({}), capture_output=True, check=True, text=True)
        return done.stdout

    @contextmanager
    def running(
        self, words: Sequence[str], settings: Mapping[str, str], *, piped: bool = False
    ) -> Iterator[subprocess.Popen[str]]:
        """A module of the tree as a process, terminated at the end. `settings`: its environment variables.

        `piped`: its output can be read, else it is dropped.
        """
        output = subprocess.PIPE if piped else subprocess.DEVNULL
        command: list[str | Path] = [self.python, "-m", *words]
        process = subprocess.Popen(
            command, cwd=self.path, env=_variables(settings), stdout=output, stderr=subprocess.STDOUT, text=True
        )
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.communicate()


def _variables(settings: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}
    return {**kept, "CONCORD_LOG_LEVEL": "ERROR", **settings}

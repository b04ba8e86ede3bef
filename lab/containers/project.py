"""A Compose project of the leaderboard's generator, with Concord's client in the place of the platform's."""

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

import tomlkit
import yaml

from deploy.leaderboard.generate_compose import CLIENT, GREEN, PORT

ROOT: Final = Path(__file__).parents[2]
GENERATOR: Final = ROOT / "deploy/leaderboard/generate_compose.py"
AGENT: Final = "agent"
"""The participant's name."""

READY_S: Final = 90
_PROGRAMS: Final = ("tests/kit/foreign_agent.py", "lab/containers/agent.py")
_MISBEHAVING: Final = """\
FROM {sample}
COPY foreign_agent.py tests/kit/
COPY agent.py lab/containers/
ENTRYPOINT ["python", "-m", "lab.containers.agent"]
"""
# A killed worker's job is repeated soon after this time.
_GREEN_ENVIRONMENT: Final = {"CONCORD_JOB_TIMEOUT_FAST_S": "5"}

_KILL: Final = """
import os, pathlib, signal, sys
for folder in sorted(pathlib.Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
    line = (folder / "cmdline").read_bytes().replace(b"\\0", b" ").decode()
    if sys.argv[1] in line and "parent_guard" not in line and int(folder.name) != os.getpid():
        os.kill(int(folder.name), signal.SIGKILL)
        sys.exit()
sys.exit(f"no process has {sys.argv[1]!r} on its command line")
"""

Scenario = Mapping[str, Any]


class EngineError(Exception):
    """A docker command failed; the text is its error."""


@contextmanager
def images(log: Path) -> Iterator[dict[str, str]]:
    """Builds the images from this tree, under names of their own; yields the names by kind, and removes them."""
    run = uuid4().hex[:8]
    names = {kind: f"concord-gate-{kind}:{run}" for kind in ("green", "client", "sample", "misbehaving")}
    try:
        for kind in ("green", "client", "sample"):
            _docker(
                log,
                "build",
                "--platform",
                "linux/amd64",
                "--tag",
                names[kind],
                "--file",
                f"deploy/{kind}.Dockerfile",
                ".",
            )
        recipe = _MISBEHAVING.format(sample=names["sample"])
        with TemporaryDirectory() as context:
            for program in _PROGRAMS:
                shutil.copy(ROOT / program, context)
            _docker(log, "build", "--tag", names["misbehaving"], "--file", "-", context, given=recipe)
        yield names
    finally:
        subprocess.run(
            ["docker", "image", "rm", "--force", *names.values()],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


class Project:
    """A running project. Its green agent has a read-only file system."""

    def __init__(self, folder: Path, built: Mapping[str, str]) -> None:
        self.folder = folder
        self.name = f"concord-gate-{uuid4().hex[:8]}"
        self._images = built
        self._log = folder / "compose.log"
        (folder / "output").mkdir(parents=True)
        (folder / "output").chmod(0o777)  # the client's container has a user of its own

    def start(self, participant: Scenario | None, config: Scenario) -> None:
        """Generates the project of a scenario, and starts the agents that do not run yet. Raises EngineError."""
        agents = [] if participant is None else [{**participant, "name": AGENT}]
        scenario = {"green_agent": {"image": self._images["green"]}, "participants": agents, "config": dict(config)}
        (self.folder / "scenario.toml").write_text(tomlkit.dumps(scenario))
        generated = subprocess.run(
            [sys.executable, str(GENERATOR), "--scenario", "scenario.toml"],
            cwd=self.folder,
            check=False,
            capture_output=True,
            text=True,
        )
        if generated.returncode != 0:
            raise EngineError(generated.stderr.strip())
        client = {
            "image": self._images["client"],
            "command": ["assess", "/app/scenario.toml", "-o", "/app/output/results.json"],
        }
        green = {"read_only": True, "tmpfs": ["/tmp"], "environment": _GREEN_ENVIRONMENT}  # noqa: S108 - in a container
        # A program of the standard library ignores SIGTERM, and the next case need not wait for it.
        brief = {AGENT: {"stop_grace_period": "1s"}} if agents else {}
        override = {"services": {CLIENT: client, GREEN: green, **brief}}
        (self.folder / "override.yml").write_text(yaml.safe_dump(override))
        self.compose("up", "--detach", "--wait", "--remove-orphans", GREEN, *([AGENT] if agents else []))
        self._until_ready()

    def compose(self, *arguments: str) -> str:
        """The output of a compose command. Raises EngineError."""
        return _docker(self._log, *self._compose(*arguments), folder=self.folder)

    def client(self, log: Path) -> subprocess.Popen[bytes]:
        """Starts the client's container, which requests the assessment and writes `output/results.json`."""
        self.results.unlink(missing_ok=True)
        command = self._compose("run", "--rm", "--no-deps", "--name", f"{self.name}-client", CLIENT)
        with log.open("wb") as output:
            return subprocess.Popen(
                ["docker", *command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def remove_client(self) -> None:
        """Removes the client's container if it still runs."""
        subprocess.run(
            ["docker", "rm", "--force", f"{self.name}-client"],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def results(self) -> Path:
        """The file that the client writes."""
        return self.folder / "output/results.json"

    def kill_part(self, words: str) -> None:
        """Kills the oldest process of the green agent with these words on its command line. Raises EngineError."""
        self.compose("exec", "-T", GREEN, "python", "-c", _KILL, words)

    def kill(self, service: str) -> None:
        """Kills a container. Raises EngineError."""
        self.compose("kill", service)

    def save_logs(self, folder: Path) -> None:
        """Writes the logs of all containers into a folder."""
        (folder / "containers.log").write_text(self.compose("logs", "--no-color", "--timestamps"))

    def remove(self) -> None:
        """Removes the project's containers and network."""
        self.remove_client()
        if (self.folder / "override.yml").exists():
            self.compose("down", "--volumes", "--remove-orphans", "--timeout", "5")

    def _until_ready(self) -> None:
        check = ("curl", "--fail", "--silent", "--output", "/dev/null", f"http://localhost:{PORT}/readyz")
        deadline = time.monotonic() + READY_S
        while True:
            try:
                self.compose("exec", "-T", GREEN, *check)
            except EngineError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
            else:
                return

    def _compose(self, *arguments: str) -> tuple[str, ...]:
        files = ("-f", "docker-compose.yml", "-f", "override.yml")
        return ("compose", "--project-name", self.name, *files, *arguments)


def read_results(path: Path) -> Any:
    """The document that the client wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def _docker(log: Path, *arguments: str, folder: Path = ROOT, given: str = "") -> str:
    done = subprocess.run(
        ["docker", *arguments], cwd=folder, check=False, input=given, capture_output=True, text=True, errors="replace"
    )
    with log.open("a") as file:
        file.write(f"$ docker {shlex.join(arguments)}\n{done.stderr}")
    if done.returncode != 0:
        raise EngineError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return done.stdout.strip()

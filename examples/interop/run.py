"""Assesses teams of agents that are built with other A2A libraries: `run.py [ENVIRONMENT …]`.

Each team has a lead that asks its helper, at an address in the lead's own configuration; of a library without a client,
the lead is on Concord's. Both get the task from the gateway. `peers.json` has the environments and the agents; the
environments are in `INTEROP_ENVIRONMENTS`, by default a folder of the system's folder for temporary files. Writes the
table in `docs/interoperability.md` if all agents ran.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
DOCUMENT: Final = HERE.parents[1] / "docs" / "interoperability.md"
ENVIRONMENTS: Final = Path(os.environ.get("INTEROP_ENVIRONMENTS") or Path(tempfile.gettempdir(), "concord-interop"))
CONCORD: Final = Path(sys.executable).with_name("concord")
_BEGIN, _END = "<!-- table: make interop -->", "<!-- end of the table -->"
_TIME_LIMIT_S: Final = 180


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome for a peer. `observed`, `failed`: calls of the lead to its helper through the gateway."""

    peer: str
    version: str
    answered: bool
    observed: int
    failed: int
    asked_by: str
    fault: str

    @property
    def works(self) -> bool:
        """Whether the peer answered the gateway, and none of its observed calls failed."""
        return self.answered and not self.failed and not self.fault

    def line(self) -> str:
        """The peer's line of the table."""
        calls = f"{self.observed} observed, {self.failed} failed" if self.observed else "none observed"
        cells = (self.peer, self.version, "yes" if self.answered else "no", calls, self.asked_by, self.fault or "-")
        return f"| {' | '.join(cells)} |"


def assess(config: dict[str, Any], peer: dict[str, Any]) -> Outcome:
    """The outcome of the assessment of a peer's team."""
    name, version = _installed(config, peer["environment"])
    lead = _command(config, peer) if peer["asks"] else [sys.executable, str(HERE / config["asker"])]
    team = {"lead": lead, "helper": _command(config, peer)}
    led_by = "the same" if peer["asks"] else "Concord's library"
    with tempfile.TemporaryDirectory() as folder:
        scenario, output = Path(folder, "team.toml"), Path(folder, "results.json")
        scenario.write_text(_scenario(team, adapted=peer["asks"]), encoding="utf-8")
        ran = subprocess.run(
            [CONCORD, "run", scenario, "-o", output], capture_output=True, text=True, timeout=_TIME_LIMIT_S
        )
        if ran.returncode != 0 or not output.exists():
            last = [line.strip() for line in ran.stderr.splitlines() if line.strip()][-1:]
            return Outcome(name, version, False, 0, 0, led_by, (last or ["no result"])[0][:200])
        [row] = json.loads(output.read_text())["results"]
    [trial] = row["detail"]["trials"]
    calls = [each for each in trial["interactions"] if (each["caller"], each["callee"]) == ("lead", "helper")]
    observed, failed = sum(each["observed"] for each in calls), sum(each["errors"] for each in calls)
    answered = trial["state"] == "completed" and trial["grading"]["value"] == 1.0
    return Outcome(name, version, answered, observed, failed, led_by, trial["error"] or "")


def _scenario(team: dict[str, list[str]], *, adapted: bool) -> str:
    lead = json.dumps(" ".join([*team["lead"], *(["--peer", "{helper}"] if adapted else [])]))
    helper = json.dumps(" ".join(team["helper"]))
    return f"""
[[participants]]
role = "lead"
cmd = {lead}
adapt = {"true" if adapted else "false"}

[[participants]]
role = "helper"
cmd = {helper}

[config]
start = "all"
timeout_s = 60

[[config.tasks]]
id = "word"
text = "Ask your peers, if you have any, for the word, and tell it."
target = "heron"
scorer = "includes"
"""


def _command(config: dict[str, Any], peer: dict[str, Any]) -> list[str]:
    folder = _environment(peer["environment"], config["environments"][peer["environment"]])
    program = str(HERE / peer["program"])
    if peer["program"].endswith(".mjs"):
        return ["env", f"NODE_PACKAGES={folder}", "node", program]
    return [str(folder / "bin" / "python"), "-W", "ignore", program]


def _environment(name: str, packages: dict[str, Any]) -> Path:
    """The folder of an environment with its packages, which is made if it does not exist yet."""
    folder = ENVIRONMENTS / name
    if not (folder / "ready").exists():
        wanted = packages.get("pip") or packages["npm"]
        print(f"{name}: {', '.join(wanted)}", flush=True)
        if "pip" in packages:
            venv.create(folder, with_pip=True, clear=True)
            subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", *wanted], check=True)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["npm", "install", "--silent", "--prefix", folder, *wanted], check=True)
        (folder / "ready").touch()
    return folder


def _installed(config: dict[str, Any], environment: str) -> tuple[str, str]:
    """The name and the version of the library that an environment is for."""
    packages = config["environments"][environment]
    folder, shown = _environment(environment, packages), packages["shown"]
    if "npm" in packages:
        return shown, json.loads((folder / "node_modules" / shown / "package.json").read_text())["version"]
    listed = [folder / "bin" / "python", "-c", f"from importlib.metadata import version; print(version({shown!r}))"]
    return shown, subprocess.run(listed, check=True, capture_output=True, text=True).stdout.strip()


def table(outcomes: list[Outcome]) -> str:
    """The table of all peers."""
    head = "| Library | Version | Answers the gateway | Calls of the lead | Lead | Fault |\n|---|---|---|---|---|---|"
    return "\n".join([head, *(outcome.line() for outcome in outcomes)])


def main(names: list[str]) -> None:
    """Assesses these environments' agents, or all. Ends the process with 1 if one of them does not work."""
    config: dict[str, Any] = json.loads((HERE / "peers.json").read_text(encoding="utf-8"))
    chosen = [peer for peer in config["peers"] if not names or peer["environment"] in names]
    outcomes = []
    for peer in chosen:
        outcomes.append(assess(config, peer))
        print(outcomes[-1].line(), flush=True)
    if len(chosen) == len(config["peers"]):
        before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(_BEGIN)
        after = rest.partition(_END)[2]
        DOCUMENT.write_text(f"{before}{_BEGIN}\n\n{table(outcomes)}\n\n{_END}{after}", encoding="utf-8")
    if not all(outcome.works for outcome in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])

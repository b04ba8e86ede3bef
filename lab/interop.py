"""Assesses teams of agents that are built with other A2A libraries: `python -m lab.interop [ENVIRONMENT …]`.

Each team has a lead that asks its helper, at an address in the lead's own configuration; of a library without a client,
the lead is on Concord's. Both get the task from the gateway. Of an agent that only answers, there is no lead. Each peer
is assessed twice: with the right word, and with a wrong one, which must earn nothing. `peers.json` has the environments
and the agents; the environments are in `INTEROP_ENVIRONMENTS`, by default a folder of the system's folder for temporary
files. Writes the table in `docs/interoperability.md` if all agents ran.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = ROOT / "examples" / "interop"
DOCUMENT: Final = ROOT / "docs" / "interoperability.md"
ENVIRONMENTS: Final = Path(os.environ.get("INTEROP_ENVIRONMENTS") or Path(tempfile.gettempdir(), "concord-interop"))
CONCORD: Final = Path(sys.executable).with_name("concord")
_BEGIN, _END = "<!-- table: make lab NAME=interop -->", "<!-- end of the table -->"
_TIME_LIMIT_S: Final = 180

WORD: Final = "heron"
KEY: Final = "what-the-words-cost"

TASK: Final = f"""

[config]
start = "all"
timeout_s = 60

[[config.tasks]]
id = "word"
text = "Ask your peers, if you have any, for the word, and tell it."
target = "{WORD}"
scorer = "includes"
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome for a peer. `observed`, `failed`: calls of the lead to its helper through the gateway."""

    peer: str
    version: str
    way: str
    answered: bool
    wrong_earns_nothing: bool
    observed: int
    failed: int
    asked_by: str
    fault: str

    @property
    def works(self) -> bool:
        """Whether the peer answered the gateway, and none of its observed calls failed."""
        return self.answered and self.wrong_earns_nothing and not self.failed and not self.fault

    def line(self) -> str:
        """The peer's line of the table."""
        calls = f"{self.observed} observed, {self.failed} failed" if self.observed else "none observed"
        right, wrong = ("yes" if each else "no" for each in (self.answered, self.wrong_earns_nothing))
        led = (calls, self.asked_by) if self.asked_by else ("-", "-")
        cells = (self.peer, self.version, self.way, right, wrong, *led, self.fault or "-")
        return f"| {' | '.join(cells)} |"


def assess(config: dict[str, Any], peer: dict[str, Any]) -> Outcome:
    """The outcome of the two assessments of a peer's team."""
    name, version = _installed(config, peer["environment"])
    led_by = "" if peer.get("alone") else "the same" if peer["asks"] else "Concord's library"
    way = peer.get("way", "a message")
    right, wrong = (_row(config, peer, word) for word in (WORD, "egret"))
    if isinstance(right, str) or isinstance(wrong, str):
        fault = right if isinstance(right, str) else str(wrong)
        return Outcome(name, version, way, False, False, 0, 0, led_by, fault[:200])
    [trial], [failed_trial] = right["detail"]["trials"], wrong["detail"]["trials"]
    calls = [each for each in trial["interactions"] if (each["caller"], each["callee"]) == ("lead", "helper")]
    observed, failed = sum(each["observed"] for each in calls), sum(each["errors"] for each in calls)
    answered = trial["state"] == "completed" and trial["grading"]["value"] == 1.0
    earns_nothing = failed_trial["state"] == "completed" and failed_trial["grading"]["value"] == 0.0
    return Outcome(name, version, way, answered, earns_nothing, observed, failed, led_by, trial["error"] or "")


def _row(config: dict[str, Any], peer: dict[str, Any], word: str) -> dict[str, Any] | str:
    """The row of a peer's team whose helper knows this word, or why there is none."""
    command = [*_command(config, peer), *peer.get("switches", ()), "--word", word]
    lead = _command(config, peer) if peer["asks"] else [sys.executable, str(PROGRAMS / config["asker"])]
    team = {"helper": command} if peer.get("alone") else {"lead": lead, "helper": command}
    with tempfile.TemporaryDirectory() as folder:
        scenario, output = Path(folder, "team.toml"), Path(folder, "results.json")
        scenario.write_text(_scenario(team, adapted=peer["asks"]), encoding="utf-8")
        ran = subprocess.run(
            [CONCORD, "run", scenario, "-o", output],
            env={**os.environ, "WORDS_KEY": KEY},
            capture_output=True,
            text=True,
            timeout=_TIME_LIMIT_S,
        )
        if ran.returncode not in {0, 1} or not output.exists():
            return ([line.strip() for line in ran.stderr.splitlines() if line.strip()] or ["no result"])[-1]
        [row] = json.loads(output.read_text())["results"]
    return dict(row)


def _scenario(team: dict[str, list[str]], *, adapted: bool) -> str:
    lines = []
    for role, command in team.items():
        started = [*command, *(["--peer", "{helper}"] if adapted and role == "lead" else [])]
        lines += ["[[participants]]", f'role = "{role}"', f"cmd = {json.dumps(' '.join(started))}"]
        lines += ["adapt = true"] if adapted and role == "lead" else []
        lines += ['credential = "X-API-Key: ${WORDS_KEY}"'] if "--key" in command else []
    return "\n".join(lines) + TASK


def _command(config: dict[str, Any], peer: dict[str, Any]) -> list[str]:
    folder = _environment(peer["environment"], config["environments"][peer["environment"]])
    program = str(PROGRAMS / peer["program"])
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
    folder = _environment(environment, packages)
    if "version" in packages:
        return packages["named"], packages["version"]
    shown = packages["shown"]
    if "npm" in packages:
        return shown, json.loads((folder / "node_modules" / shown / "package.json").read_text())["version"]
    python = str(folder / "bin" / "python")
    listed = [python, "-c", f"from importlib.metadata import version; print(version({shown!r}))"]
    return shown, subprocess.run(listed, check=True, capture_output=True, text=True).stdout.strip()


def table(outcomes: list[Outcome]) -> str:
    """The table of all peers."""
    names = (
        "Library",
        "Version",
        "Answers",
        "Right one counts",
        "Wrong one earns nothing",
        "Calls of the lead",
        "Lead",
        "Fault",
    )
    head = f"| {' | '.join(names)} |\n{'|---' * len(names)}|"
    return "\n".join([head, *(outcome.line() for outcome in outcomes)])


def main(names: list[str]) -> None:
    """Assesses these environments' agents, or all. Ends the process with 1 if one of them does not work."""
    config: dict[str, Any] = json.loads((PROGRAMS / "peers.json").read_text(encoding="utf-8"))
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
    parser = argparse.ArgumentParser("lab.interop", description=__doc__)
    parser.add_argument("environments", nargs="*", metavar="ENVIRONMENT", help="of peers.json; all without any")
    main(parser.parse_args().environments)

"""Writes docker-compose.yml, a2a-scenario.toml and .env.example from a scenario.toml.

`python generate_compose.py --scenario scenario.toml [--output-dir .]`. An agent's `agentbeats_id` is resolved to its
image by the platform; `image` names an image directly, for a local run. Exit code 1, with one line on standard error,
for a scenario that cannot be run.

The scenarios that `concord run` reads are accepted, too, if their agents have an `image`. A participant's `cmd` is left
out; `function` and the team's `wiring` become variables of Concord's participants.
"""

import argparse
import json
import math
import re
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Final

import tomlkit
import yaml

API: Final = "https://agentbeats.dev/api/agents"
CLIENT_IMAGE: Final = "ghcr.io/agentbeats/agentbeats-client:v1.0.0"
PORT: Final = 9009
GREEN: Final = "green-agent"
CLIENT: Final = "agentbeats-client"

_TIMEOUT_S: Final = 30
_MAX_ANSWER_BYTES: Final = 1024 * 1024
_PLATFORM: Final = "linux/amd64"
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?")
_ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_IMAGE: Final = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]{0,511}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?[-?+][^}]*)?\}")
_HEADER: Final = "# Written by generate_compose.py from scenario.toml.\n"


class ScenarioError(Exception):
    """The scenario cannot be run. The message names the place and the reason, on one line."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of a scenario: its service name, and either its id on the platform or its image."""

    name: str
    agentbeats_id: str | None
    image: str | None
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Scenario:
    """The green agent, the participants, and the config of the assessment as plain JSON values."""

    green: Agent
    participants: tuple[Agent, ...]
    config: Mapping[str, Any]


def read_scenario(path: Path) -> Scenario:
    """Reads and checks a scenario. Raises ScenarioError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: not TOML: {error}") from error
    try:
        return parse_scenario(document)
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from error


def parse_scenario(document: Mapping[str, Any]) -> Scenario:
    """Checks the parsed document. Raises ScenarioError."""
    _check_keys("the scenario", document, {"green_agent", "participants", "team", "config"})
    if "green_agent" not in document:
        raise ScenarioError("green_agent is missing: add a [green_agent] table with `agentbeats_id` or `image`")
    green = _agent("green_agent", document["green_agent"], GREEN)
    listed = document.get("participants", [])
    if not isinstance(listed, list):
        raise ScenarioError("participants is not a list: write each participant as [[participants]]")
    team = _wiring(document.get("team", {}))
    participants = tuple(_participant(f"participants[{i}]", each, team) for i, each in enumerate(listed))
    names = [each.name for each in participants]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ScenarioError(f"participants: the name {repeated[0]!r} is used twice: names are host names and roles")
    config = document.get("config", {})
    if not isinstance(config, dict):
        raise ScenarioError("config is not a table: write it as [config]")
    for place, why in _not_json("config", config):
        raise ScenarioError(f"{place} is {why}, which the client cannot send as JSON")
    return Scenario(green, participants, config)


def _wiring(table: object) -> dict[str, str]:
    if not isinstance(table, dict):
        raise ScenarioError("team is not a table: write it as [team]")
    if "isolation" in table:
        raise ScenarioError("team.isolation is for `concord run`: in this project, the agents share a network")
    _check_keys("team", table, {"wiring"})
    return {"PURPLE_TEAM": _text("team.wiring", table["wiring"])} if "wiring" in table else {}


def _participant(place: str, table: object, team: Mapping[str, str]) -> Agent:
    agent = _agent(place, table)
    if not isinstance(table, dict) or "function" not in table:
        return agent
    given = {"PURPLE_FUNCTION": _text(f"{place}.function", table["function"]), "PURPLE_AGENT_ID": agent.name}
    return replace(agent, env={**given, **team, **agent.env})


def _text(place: str, value: object) -> str:
    if not isinstance(value, str):
        raise ScenarioError(f"{place} is not a string: {value!r}")
    return value


def _agent(place: str, table: object, name: str | None = None) -> Agent:
    if not isinstance(table, dict):
        raise ScenarioError(f"{place} is not a table")
    _check_keys(place, table, {"agentbeats_id", "image", "env"} | (set() if name else {"name", "function", "cmd"}))
    name = name or _name(place, table)
    given = {key: table[key] for key in ("agentbeats_id", "image") if table.get(key, "") != ""}
    if len(given) != 1:
        found = "both are given" if given else "neither is given"
        raise ScenarioError(f"{place}: give either `agentbeats_id` or `image`: {found}")
    [(key, value)] = given.items()
    if not isinstance(value, str) or (_ID if key == "agentbeats_id" else _IMAGE).fullmatch(value) is None:
        raise ScenarioError(f"{place}.{key} is not an {'id' if key == 'agentbeats_id' else 'image name'}: {value!r}")
    return Agent(name, given.get("agentbeats_id"), given.get("image"), _env(place, table.get("env", {})))


def _name(place: str, table: Mapping[str, Any]) -> str:
    name = table.get("name")
    if name is None:
        raise ScenarioError(f"{place}.name is missing: it is the participant's role and host name")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ScenarioError(f"{place}.name is not a host name: {name!r}: use a-z, 0-9, - and _, at most 63 characters")
    if name in {GREEN, CLIENT, "unknown"}:
        raise ScenarioError(f"{place}.name is reserved: {name!r}")
    return name


def _env(place: str, table: object) -> dict[str, str]:
    if not isinstance(table, dict):
        raise ScenarioError(f"{place}.env is not a table")
    for key, value in table.items():
        if _VARIABLE.fullmatch(key) is None:
            raise ScenarioError(f"{place}.env: {key!r} is not a variable name")
        if not isinstance(value, str | int | float):
            raise ScenarioError(f"{place}.env.{key} is not a string, number or boolean")
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in table.items()}


def _check_keys(place: str, table: Mapping[str, Any], allowed: set[str]) -> None:
    if unknown := sorted(set(table) - allowed):
        raise ScenarioError(f"{place} has an unknown key: {unknown[0]!r}: it may have {', '.join(sorted(allowed))}")


def _not_json(place: str, value: object) -> Iterator[tuple[str, str]]:
    """The places of values that JSON does not have, each with what it is."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _not_json(f"{place}.{key}", each)
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from _not_json(f"{place}[{i}]", each)
    elif isinstance(value, datetime | date | time):
        yield place, "a date or time"
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, "not a finite number"


def image_of(agent: Agent, api: str) -> str:
    """The agent's image, which the platform knows by the agent's id. Raises ScenarioError."""
    if agent.image is not None:
        return agent.image
    where = f"{agent.name}: agent {agent.agentbeats_id}"
    request = urllib.request.Request(f"{api}/{agent.agentbeats_id}", headers={"Accept": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - http only for a local API
            found = json.loads(answer.read(_MAX_ANSWER_BYTES))
    except urllib.error.HTTPError as error:
        known = "the platform knows no such agent" if error.code == 404 else f"the platform answered {error.code}"
        raise ScenarioError(f"{where}: {known}") from error
    except OSError as error:
        raise ScenarioError(f"{where}: the platform cannot be reached: {error}") from error
    except ValueError as error:
        raise ScenarioError(f"{where}: the platform's answer is not JSON") from error
    image = found.get("docker_image") if isinstance(found, dict) else None
    if not isinstance(image, str) or _IMAGE.fullmatch(image) is None:
        raise ScenarioError(f"{where}: the platform has no image of it: register one with the agent")
    return image


def compose(scenario: Scenario, images: Mapping[str, str]) -> dict[str, Any]:
    """The Compose file. `images`: by service name."""
    names = [each.name for each in scenario.participants]
    services = {each.name: _service(each, images[each.name]) for each in (scenario.green, *scenario.participants)}
    services[GREEN] |= {"depends_on": _healthy(names)} if names else {}
    services[CLIENT] = {
        "image": CLIENT_IMAGE,
        "platform": _PLATFORM,
        "command": ["scenario.toml", "output/results.json"],
        "volumes": ["./a2a-scenario.toml:/app/scenario.toml:ro", "./output:/app/output"],
        "depends_on": _healthy([GREEN, *names]),
        "networks": ["agent-network"],
    }
    return {"services": services, "networks": {"agent-network": {"driver": "bridge"}}}


def _service(agent: Agent, image: str) -> dict[str, Any]:
    url = f"http://{agent.name}:{PORT}"
    card = f"http://localhost:{PORT}/.well-known/agent-card.json"
    return {
        "image": image,
        "platform": _PLATFORM,
        "command": ["--host", "0.0.0.0", "--port", str(PORT), "--card-url", url],  # noqa: S104 - in a container
        "environment": {"PYTHONUNBUFFERED": "1"} | {key: _escaped(value) for key, value in agent.env.items()},
        "healthcheck": {
            "test": ["CMD", "curl", "-f", card],
            "interval": "5s",
            "timeout": "3s",
            "retries": 10,
            "start_period": "30s",
        },
        "networks": ["agent-network"],
    }


def _healthy(names: list[str]) -> dict[str, Any]:
    return {name: {"condition": "service_healthy"} for name in names}


def _escaped(value: str) -> str:
    """A value for Compose, which replaces `${NAME}` and reads `$$` as a dollar sign."""
    parts: list[str] = []
    end = 0
    for match in _REFERENCE.finditer(value):
        parts += [value[end : match.start()].replace("$", "$$"), match[0]]
        end = match.end()
    return "".join([*parts, value[end:].replace("$", "$$")])


def a2a_scenario(scenario: Scenario) -> dict[str, Any]:
    """The scenario as the client reads it: roles and endpoints."""
    participants = [
        {"role": each.name, "endpoint": f"http://{each.name}:{PORT}"}
        | ({} if each.agentbeats_id is None else {"agentbeats_id": each.agentbeats_id})
        for each in scenario.participants
    ]
    green = {"endpoint": f"http://{GREEN}:{PORT}"}
    return {"green_agent": green, "participants": participants, "config": dict(scenario.config)}


def variables(scenario: Scenario) -> list[str]:
    """The variables that the agents' environments take from the runner's, sorted."""
    values = [value for agent in (scenario.green, *scenario.participants) for value in agent.env.values()]
    return sorted({match[1] for value in values for match in _REFERENCE.finditer(value)})


def main() -> int:
    """Reads the scenario and writes the files. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Write a Compose file and the client's scenario from scenario.toml.")
    parser.add_argument("--scenario", type=Path, default=Path("scenario.toml"))
    parser.add_argument("--output-dir", type=Path, default=Path())
    parser.add_argument("--api", default=API, help="URL below which the platform answers for an agent's id")
    arguments = parser.parse_args()
    try:
        scenario = read_scenario(arguments.scenario)
        agents = (scenario.green, *scenario.participants)
        images = {each.name: image_of(each, arguments.api.rstrip("/")) for each in agents}
    except ScenarioError as error:
        print(f"generate_compose: {error}", file=sys.stderr)
        return 1
    folder: Path = arguments.output_dir
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "docker-compose.yml": _HEADER + yaml.safe_dump(compose(scenario, images), sort_keys=False),
        "a2a-scenario.toml": _HEADER + tomlkit.dumps(a2a_scenario(scenario)),
        ".env.example": "".join(f"{name}=\n" for name in variables(scenario)),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"Wrote {', '.join(files)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

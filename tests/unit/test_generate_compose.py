"""The leaderboard's generator: scenario.toml becomes a Compose file, the client's scenario, and a list of variables."""

import json
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.leaderboard import generate_compose
from deploy.leaderboard.generate_compose import (
    ScenarioError,
    a2a_scenario,
    compose,
    image_of,
    parse_scenario,
    variables,
)

LOCAL = """
[green_agent]
image = "concord-green"
env = { AGENTBEATS_LLM_API_KEY = "${AGENTBEATS_LLM_API_KEY:-}", PRICE = "5$", ON = true }

[[participants]]
image = "ghcr.io/somebody/agent:1"
name = "agent"
env = { API_KEY = "${API_KEY}" }

[config]
suite = "quick"
num_runs = 3
edges = [["a", "b"]]
"""


def composed(text: str) -> dict[str, Any]:
    scenario = parse_scenario(tomllib.loads(text))
    return compose(scenario, {each.name: each.image or "" for each in (scenario.green, *scenario.participants)})


def test_each_agent_is_started_and_checked_as_on_the_platform() -> None:
    agent = composed(LOCAL)["services"]["agent"]
    assert agent["command"] == ["--host", "0.0.0.0", "--port", "9009", "--card-url", "http://agent:9009"]  # noqa: S104
    assert agent["healthcheck"]["test"][-1] == "http://localhost:9009/.well-known/agent-card.json"
    assert agent["platform"] == "linux/amd64"


def test_the_client_waits_for_all_agents() -> None:
    client = composed(LOCAL)["services"]["agentbeats-client"]
    assert client["depends_on"] == {name: {"condition": "service_healthy"} for name in ("green-agent", "agent")}


def test_compose_replaces_variables_and_nothing_else() -> None:
    environment = composed(LOCAL)["services"]["green-agent"]["environment"]
    assert environment["AGENTBEATS_LLM_API_KEY"] == "${AGENTBEATS_LLM_API_KEY:-}"
    assert environment["PRICE"] == "5$$"
    assert environment["ON"] == "true"


def test_the_clients_scenario_has_roles_endpoints_and_the_config_unchanged() -> None:
    document = a2a_scenario(parse_scenario(tomllib.loads(LOCAL)))
    assert document["green_agent"] == {"endpoint": "http://green-agent:9009"}
    assert document["participants"] == [{"role": "agent", "endpoint": "http://agent:9009"}]
    assert document["config"] == {"suite": "quick", "num_runs": 3, "edges": [["a", "b"]]}


def test_the_variables_are_those_that_the_agents_environments_refer_to() -> None:
    assert variables(parse_scenario(tomllib.loads(LOCAL))) == ["AGENTBEATS_LLM_API_KEY", "API_KEY"]


GREEN = '[green_agent]\nimage = "g"\n'

MALFORMED = {
    "": "green_agent is missing",
    "green_agent = 1": "green_agent is not a table",
    "[green_agent]": "neither is given",
    '[green_agent]\nimage = ""\nagentbeats_id = ""': "neither is given",
    '[green_agent]\nimage = "g"\nagentbeats_id = "1"': "both are given",
    "[green_agent]\nimage = 1": "green_agent.image is not an image name: 1",
    '[green_agent]\nimage = "a b"': "green_agent.image is not an image name: 'a b'",
    '[green_agent]\nagentbeats_id = "../x"': "green_agent.agentbeats_id is not an id: '../x'",
    '[green_agent]\nimage = "g"\nname = "x"': "green_agent has an unknown key: 'name'",
    '[green_agent]\nimage = "g"\nenv = []': "green_agent.env is not a table",
    '[green_agent]\nimage = "g"\nenv = { "A B" = "1" }': "'A B' is not a variable name",
    '[green_agent]\nimage = "g"\nenv = { A = ["1"] }': "green_agent.env.A is not a string, number or boolean",
    f"{GREEN}[particpants]": "the scenario has an unknown key: 'particpants'",
    f'{GREEN}[team]\nisolation = "container"': "team.isolation is for `concord run`",
    f"{GREEN}[participants]": "participants is not a list",
    f'{GREEN}[[participants]]\nimage = "p"': "participants[0].name is missing",
    f'{GREEN}[[participants]]\nimage = "p"\nname = "My agent"': "participants[0].name is not a host name: 'My agent'",
    f'{GREEN}[[participants]]\nimage = "p"\nname = "green-agent"': "participants[0].name is reserved",
    f'{GREEN}[[participants]]\nname = "p"': "participants[0]: give either",
    f'{GREEN}[[participants]]\nimage = "p"\nname = "p"\n[[participants]]\nimage = "q"\nname = "p"': "is used twice",
    f"config = 1\n{GREEN}": "config is not a table",
    f"{GREEN}[config]\nday = 2026-01-01": "config.day is a date or time",
    f"{GREEN}[config]\nlimits = [inf]": "config.limits[0] is not a finite number",
}


@pytest.mark.parametrize("text", MALFORMED, ids=MALFORMED.values())
def test_a_malformed_scenario_is_refused_with_the_place_and_the_reason(text: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse_scenario(tomllib.loads(text))
    assert MALFORMED[text] in str(refused.value)


@contextmanager
def platform(status: int, body: bytes) -> Iterator[str]:
    """The platform's API with one answer for every agent; yields its URL."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


AGENT = generate_compose.Agent("agent", "019b-x", None, {})


def test_an_id_is_resolved_to_the_image_that_the_platform_has() -> None:
    with platform(200, json.dumps({"docker_image": "ghcr.io/a/b:1"}).encode()) as api:
        assert image_of(AGENT, api) == "ghcr.io/a/b:1"


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, b"", "the platform knows no such agent"),
        (500, b"", "the platform answered 500"),
        (200, b"<html>", "the platform's answer is not JSON"),
        (200, b"[]", "the platform has no image of it"),
        (200, b'{"docker_image": null}', "the platform has no image of it"),
    ],
)
def test_an_id_without_an_image_is_refused(status: int, body: bytes, reason: str) -> None:
    with platform(status, body) as api, pytest.raises(ScenarioError, match=reason):
        image_of(AGENT, api)


def test_a_platform_that_cannot_be_reached_is_named() -> None:
    with platform(200, b"") as api:
        pass
    with pytest.raises(ScenarioError, match="agent 019b-x: the platform cannot be reached"):
        image_of(AGENT, api)


def test_the_program_writes_three_files_or_one_line(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(LOCAL)
    program = [sys.executable, generate_compose.__file__, "--output-dir", str(tmp_path)]
    subprocess.run([*program, "--scenario", str(tmp_path / "scenario.toml")], check=True, stdout=subprocess.DEVNULL)
    assert set(yaml.safe_load((tmp_path / "docker-compose.yml").read_text())["services"]) == {
        "green-agent",
        "agent",
        "agentbeats-client",
    }
    assert tomllib.loads((tmp_path / "a2a-scenario.toml").read_text())["config"]["num_runs"] == 3
    assert (tmp_path / ".env.example").read_text() == "AGENTBEATS_LLM_API_KEY=\nAPI_KEY=\n"

    refused = subprocess.run([*program, "--scenario", "nowhere.toml"], check=False, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (1, "generate_compose: nowhere.toml: No such file or directory\n")

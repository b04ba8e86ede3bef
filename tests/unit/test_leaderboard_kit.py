"""The leaderboard's kit: its manifests keep the platform's rules, and its workflows and scenario can be read."""

import re
import tomllib
from pathlib import Path
from typing import Any

import json5
import pytest
import yaml

from concord.assessment import AssessmentConfig
from deploy.leaderboard.check_results import faults
from deploy.leaderboard.generate_compose import ScenarioError, parse_scenario, variables
from deploy.leaderboard.record_provenance import ProvenanceError, images_of, workflow_run

KIT = Path(__file__).parents[2] / "deploy/leaderboard"
WORKFLOWS = sorted([*KIT.glob(".github/workflows/*.yml"), *KIT.glob("templates/*.yml")])


def document(name: str) -> dict[str, Any]:
    """A JSON5 file of the kit."""
    parsed: dict[str, Any] = json5.loads((KIT / name).read_text(encoding="utf-8"))
    return parsed


def test_a_submission_needs_nothing_but_the_two_ids() -> None:
    text = (KIT / "scenario.toml").read_text(encoding="utf-8")
    with pytest.raises(ScenarioError, match="green_agent: give either `agentbeats_id` or `image`: neither is given"):
        parse_scenario(tomllib.loads(text))
    scenario = parse_scenario(tomllib.loads(text.replace('agentbeats_id = ""', 'agentbeats_id = "019b"')))
    assert [each.name for each in scenario.participants] == ["agent"]
    assert variables(scenario) == ["AGENTBEATS_LLM_API_KEY"]
    AssessmentConfig.model_validate(dict(scenario.config))


def test_the_green_agents_manifest_uses_what_it_declares() -> None:
    manifest = document("amber-manifest.json5")
    program = manifest["program"]
    used = set(re.findall(r"\$\{(?:config|slots)\.(\w+)", str(program)))
    assert used == {*manifest["config_schema"]["properties"], *manifest["slots"]}
    assert {each["endpoint"] for each in manifest["provides"].values()} == {"a2a"}
    assert program["network"]["endpoints"] == [{"name": "a2a", "port": 9009}]
    assert manifest["exports"] == {"a2a": "a2a"}
    # The platform replaces the image's entrypoint, and gives no URL for the card.
    assert program["entrypoint"][-4:] == ["--host", "0.0.0.0", "--port", "9009"]  # noqa: S104
    AssessmentConfig.model_validate(manifest["metadata"]["assessment_config"])


def test_every_binding_of_the_scenario_names_a_component_and_the_results_are_exported() -> None:
    scenario = document("scenario.json5")
    ends = {end for binding in scenario["bindings"] for end in (binding["to"], binding["from"])}
    assert {end.partition(".")[0] for end in ends} == {f"#{name}" for name in scenario["components"]}
    assert scenario["exports"] == {"results": "#gateway.results"}
    roles = scenario["components"]["gateway"]["config"]["participant_roles"]
    assert set(roles.values()) == set(scenario["metadata"]["agentbeats_ids"])
    assert roles["purple1"] == "agent", "the query credits this role"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_jobs_with_time_limits_and_least_permissions(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    for job in workflow["jobs"].values():
        if "uses" not in job:  # the platform's own workflow has its limits
            assert job["timeout-minutes"] <= 300
        assert workflow.get("permissions") or job.get("permissions")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "not JSON"),
        ("[]", "not an object"),
        ('{"participants": {"agent": ""}, "results": [{}]}', "participants.agent has no id"),
        ('{"participants": {"agent": "x"}, "results": []}', "no results"),
        ('{"participants": {"agent": "x"}, "results": [{}, 1]}', "a result is not an object"),
    ],
)
def test_a_results_file_that_the_query_cannot_credit_is_named(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert [fault in each for each in faults(path)] == [True]


def test_the_provenance_names_the_run_of_the_workflow_or_none() -> None:
    github = {
        "GITHUB_RUN_ID": "7",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_API_URL": "https://api.github.com",
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_SHA": "5eed",
    }
    run = workflow_run(github)
    assert run is not None
    assert run["run_url"] == "https://github.com/a/b/actions/runs/7"
    assert run["run_logs_url"] == "https://api.github.com/repos/a/b/actions/runs/7/logs"
    assert run["sha"] == "5eed"
    assert workflow_run({}) is None


def test_the_provenance_has_an_image_for_each_service(tmp_path: Path) -> None:
    path = tmp_path / "docker-compose.yml"
    path.write_text("services: {a: {image: x}, b: {image: y}}")
    assert images_of(path) == {"a": "x", "b": "y"}
    path.write_text("services: {a: {build: .}}")
    with pytest.raises(ProvenanceError, match="not a Compose file whose services all have an image"):
        images_of(path)

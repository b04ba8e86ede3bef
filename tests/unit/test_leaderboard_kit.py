"""The leaderboard's kit: its manifests keep the platform's rules, and its workflows and scenario can be read."""

import ast
import json
import re
import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import json5
import pytest
import yaml

from concord.assessment import AssessmentConfig
from deploy.leaderboard.check_results import faults
from deploy.leaderboard.generate_compose import ScenarioError, parse_scenario, variables
from deploy.leaderboard.record_provenance import ProvenanceError, bundles_in, images_of, workflow_run
from deploy.leaderboard.sign_results import command_for

KIT = Path(__file__).parents[2] / "deploy/leaderboard"
WORKFLOWS = sorted([*KIT.glob(".github/workflows/*.yml"), *KIT.parents[1].glob(".github/workflows/*.yml")])


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


def test_the_kit_needs_no_package_that_a_run_does_not_install() -> None:
    """But for the one that its query needs, which is imported where it is used."""
    kit = [ast.parse(path.read_text(encoding="utf-8")) for path in KIT.glob("*.py")]
    imports = [node for module in kit for node in module.body if isinstance(node, ast.Import)]
    needed = {name.name.partition(".")[0] for node in imports for name in node.names} - sys.stdlib_module_names
    locked = (KIT.parents[1] / "locks/run.txt").read_text(encoding="utf-8")
    assert needed == {"yaml", "tomlkit"}
    assert all(f"\n{package}==" in locked for package in ("pyyaml", "tomlkit"))


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
        ('{"participants": {"agent": ""}, "results": [{}]}', "no participant has an id"),
        ('{"participants": {"agent": "x"}, "results": []}', "no results"),
        ('{"participants": {"agent": "x"}, "results": [{}, 1]}', "a result is not an object"),
        ('{"participants": {"agent": "x"}, "results": [{}], "status": "partial"}', "shards are missing"),
    ],
)
def test_a_results_file_that_the_query_cannot_credit_is_named(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert [fault in each for each in faults(path)] == [True]


@pytest.mark.parametrize(
    ("shards", "said"),
    [
        ([(0, 1, "p")], []),
        ([(1.0, 2.0, "p"), (0.0, 2.0, "p")], []),
        ([(0, 3, "p")], ["2 of 3 shards are missing, so it has no rank: 1, 2"]),
        ([(0, 2, "p"), (0, 2, "p")], ["shard 0 occurs 2 times", "1 of 2 shards are missing, so it has no rank: 1"]),
        ([(0, 2, "p"), (1, 2, "q")], ["its rows are of several assessments"]),
        ([(0, 1, "p"), (1, 3, "p"), (2, 3, "p")], ["its rows are of several assessments"]),
    ],
)
def test_a_results_file_has_each_shard_of_one_assessment(
    tmp_path: Path, shards: list[tuple[float, float, str]], said: list[str]
) -> None:
    rows = [
        {"detail": {"shard": {"shard_index": index, "num_shards": number, "plan_sha256": plan}}}
        for index, number, plan in shards
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"participants": {"agent": "x"}, "results": rows}))
    found = [*faults(path)]
    assert len(found) == len(said)
    assert all(part in each for part, each in zip(said, found, strict=True))


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


def test_the_provenance_has_the_digest_of_each_bundle(tmp_path: Path) -> None:
    (tmp_path / "a1.zip").write_bytes(b"a bundle")
    (tmp_path / "notes.txt").write_text("no bundle")
    assert bundles_in(tmp_path) == {"a1": sha256(b"a bundle").hexdigest()}
    assert bundles_in(tmp_path / "none") == {}


@pytest.mark.parametrize(
    ("files", "sign", "expected"),
    [
        ([], True, None),
        (["submissions/x.bundles/a1.zip"], False, ["verify", "--bundle", "submissions/x.bundles"]),
        (["submissions/x.bundles/a1.zip"], True, ["sign", "--bundle", "submissions/x.bundles"]),
        (
            ["submissions/x.bundles/a1.zip", "submissions/x.provenance.json", "results/x.json.sig"],
            True,
            [
                *("verify", "--bundle", "submissions/x.bundles", "--provenance", "submissions/x.provenance.json"),
                *("--key", "key.pub"),
            ],
        ),
    ],
    ids=["no bundles", "a pull request", "merged", "signed before"],
)
def test_a_submission_is_verified_and_signed_once(
    files: list[str], sign: bool, expected: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in map(Path, ["results/x.json", *files]):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    found = command_for(Path("concord"), Path("results/x.json"), Path("submissions"), Path("key.pub"), sign=sign)
    assert found == (None if expected is None else ["concord", expected[0], "results/x.json", *expected[1:]])


def test_only_the_leaderboards_main_branch_gets_the_key_and_submissions_do_not() -> None:
    with_key = [path.name for path in WORKFLOWS if "CONCORD_SIGNING_KEY" in path.read_text(encoding="utf-8")]
    assert with_key == ["sign-results.yml"]
    workflow = yaml.safe_load((KIT / ".github/workflows/sign-results.yml").read_text(encoding="utf-8"))
    triggers = workflow[True]  # YAML 1.1 reads `on` as true
    assert triggers["push"]["branches"] == ["main"]
    assert set(triggers) == {"push", "workflow_dispatch"}
    assert workflow["jobs"]["sign"]["if"] == "github.ref == 'refs/heads/main'"

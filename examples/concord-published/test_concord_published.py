"""The importers of published tasks, with tasks that are made up, in the published layouts."""

import argparse
import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import JsonValue

import concord.suite.task as installed
from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment.result_row import ResultRow
from concord.assessment.task_spec import Control
from concord.suite import Grade, Group, SuiteTask
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_published.__main__ import scenario_text
from concord_published.comparison import lines_of, table
from concord_published.prose import PublishedFamily, chosen
from concord_published.suite import LayoutError, suite_of
from tests.kit.serving import served_agent
from tests.kit.stack import stack

PROFILE: Final[dict[str, Any]] = {
    "id": 7,
    "name": "lighthouse",
    "description": "You keep three lighthouses with two colleagues, and can repair one of them before the storm.",
    "shared_information": ["The lamp of Gull Rock is the oldest.", "Mill Point has most ships."],
    "hidden_information": ["Gull Rock was closed in May.", "Mill Point has a spare lamp.", "Cape North is dark."],
    "possible_answers": ["Gull Rock", "Mill Point", "Cape North"],
    "correct_answer": "Cape North",
}

SILO: Final[dict[str, Any]] = {
    "case_id": "I-99",
    "case_name": "Highest tide",
    "task_description": "**Task:** Find the highest tide.\n\n**Communication Protocol:** Send all to agent 0.\n\n"
    "**Output:** The tide.",
    "expected_output": 9,
    "agent_configs": [{"agent_id": n, "input_shard": shard} for n, shard in enumerate(([3, 9], [4], [1, 2]))],
    "metadata": {"num_agents": 3, "optimal_topology": "star"},
}

PATH_OF_THREE: Final = {
    "graph_generator": "ws",
    "num_nodes": 3,
    "index": 0,
    "graph": json.dumps(
        {
            "graph": {
                "directed": False,
                "multigraph": False,
                "graph": {},
                "nodes": [{"id": n, "name": name} for n, name in enumerate(("Ann", "Bo", "Cy"))],
                "links": [{"source": 0, "target": 1}, {"source": 1, "target": 2}],
            }
        }
    ),
}


@pytest.fixture
def files(tmp_path: Path) -> str:
    """A file of each benchmark, as CONCORD_PUBLISHED names them."""
    documents = {"profiles": [PROFILE], "silo": SILO, "graphs": [PATH_OF_THREE]}
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    return str(tmp_path)


IN_A_ROW: Final = {"agent/1": ("agent/2",), "agent/2": ("agent/1", "agent/3"), "agent/3": ("agent/2",)}


def task_of(family: PublishedFamily, secret: bytes = b"s" * 32) -> SuiteTask:
    return family.generate(secret, IN_A_ROW, 2)


def graded(files: str, name: str, answers: Sequence[JsonValue]) -> Grade:
    family = suite_of(files).families[name]
    assert isinstance(family, PublishedFamily)
    given = {f"agent/{place}": answer for place, answer in enumerate(answers, start=1) if answer is not None}
    return family.grade(given, task_of(family).key)


def test_each_layout_is_recognised_and_has_a_manifest(files: str) -> None:
    suite = suite_of(files)
    assert sorted(suite.manifests) == ["agentsnet", "hiddenbench", "silo-bench"]
    assert len(suite.families) == 2 + 5
    assert suite_of("").families == {}


def test_every_seat_gets_the_shared_facts_and_one_hidden_fact(files: str) -> None:
    family = suite_of(files).families["hiddenbench-7"]
    assert isinstance(family, PublishedFamily)
    task = task_of(family)
    for brief in task.briefs.values():
        assert all(shared in brief for shared in PROFILE["shared_information"])
        assert sum(hidden in brief for hidden in PROFILE["hidden_information"]) == 1
    assert {task_of(family, secret=bytes([n]) * 32).briefs["agent/1"] for n in range(20)} > {task.briefs["agent/1"]}
    assert task.facts == ()


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("Cape North", "Cape North"),
        ("I vote for CAPE-NORTH.", "Cape North"),
        ("Cape North or Gull Rock", None),
        ("Gull Rock, Mill Point, Cape North", None),
        ("Cape Northern", None),
        ("", None),
        (True, None),
        ({"answer": "Cape North"}, None),
        (None, None),
    ],
)
def test_a_vote_is_the_only_option_that_an_answer_names(answer: JsonValue, choice: str | None) -> None:
    assert chosen(answer, ["Gull Rock", "Mill Point", "Cape North"]) == choice


def test_an_option_within_another_one_can_be_chosen() -> None:
    assert chosen("the Rock", ["Rock", "Gull Rock"]) == "Rock"
    assert chosen("Gull Rock", ["Rock", "Gull Rock"]) == "Gull Rock"


def test_votes_count_for_each_seat(files: str) -> None:
    grade = graded(files, "hiddenbench-7", ["Cape North", "Mill Point", "cape north!"])
    assert grade.outcome == pytest.approx(2 / 3)
    assert graded(files, "hiddenbench-7", [None, None, "no idea"]).unreadable == ("agent/3",)


def test_a_silo_task_hides_its_protocol_and_compares_values(files: str) -> None:
    family = suite_of(files).families["silo-bench-I-99-n3"]
    assert isinstance(family, PublishedFamily)
    assert "Send all" not in task_of(family).question
    assert "**Output:**" in task_of(family).question
    assert graded(files, "silo-bench-I-99-n3", [9, "9", "```json\n9.0\n```"]).outcome == 1
    assert graded(files, "silo-bench-I-99-n3", [True, [9], "nine"]).outcome == 0


@pytest.mark.parametrize(
    ("problem", "answers", "score"),
    [
        ("consensus", ["1", "1", 1], 1),
        ("consensus", ["1", "1", None], 0),
        ("consensus", ["1", "0", "1"], 0),
        ("leader-election", ["No", "yes", "No"], 1),
        ("leader-election", ["Yes", "Yes", "No"], 0),
        ("leader-election", ["Yes", "No", None], 0),
        ("matching", ["agent/2", "agent/1", "None"], 1),
        ("matching", ["None", "None", "None"], 0),
        ("matching", ["agent/2", "agent/3", "agent/2"], 2 / 3),
        ("matching", ["agent/3", "None", "agent/2"], 1 / 3),
        ("matching", [None, None, None], 0),
        ("colouring", ["Group 1", "Group 2", "Group 1"], 1),
        ("colouring", ["Group 1", "Group 1", "Group 2"], 0.5),
        ("colouring", ["Group 1", "Group 2", "Group 9"], 0),
        ("vertex-cover", ["No", "Yes", "No"], 1),
        ("vertex-cover", ["Yes", "Yes", "Yes"], 0),
        ("vertex-cover", ["Yes", "Yes", "No"], 0.5),
        ("vertex-cover", ["No", "No", "No"], 0),
    ],
)
def test_problems_on_a_path_of_three_have_the_scores_of_the_published_code(
    files: str, problem: str, answers: list[JsonValue], score: float
) -> None:
    grade = graded(files, f"agentsnet-{problem}-ws-3-0", answers)
    assert grade.outcome == pytest.approx(score)


def test_a_graph_is_the_topology_and_sets_the_rounds(files: str) -> None:
    [task, *_] = json.loads(suite_of(files).manifests["agentsnet"])["tasks"]
    assert task["topology"] == [["agent/1", "agent/2"], ["agent/2", "agent/3"]]
    assert task["max_rounds"] == 2 * 2 + 1 + 1


@pytest.mark.parametrize(
    "document",
    [
        [{"id": 1}],
        {"case_id": "I-01"},
        [{"graph_generator": "ws", "graph": "{}"}],
        [PROFILE | {"correct_answer": "nowhere"}],
        SILO | {"agent_configs": []},
        "text",
    ],
)
def test_a_file_in_another_layout_is_refused_by_its_name(tmp_path: Path, document: JsonValue) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(document))
    with pytest.raises(LayoutError, match=r"other\.json"):
        suite_of(str(path))


@pytest.mark.parametrize("limit", [None, 1])
def test_the_command_writes_a_scenario_with_the_controls_of_the_papers(files: str, limit: int | None) -> None:
    options = {"endpoint": None, "cmd": "python -m x", "runs": 2, "exchange": "rounds", "max_rounds": 4, "limit": limit}
    arguments = argparse.Namespace(**options, trial_timeout=900.0, controls=["solo", "silent"])
    scenario = ScenarioFile.model_validate(tomllib.loads(scenario_text(arguments, suite_of(files))))
    assert scenario.participants[0].cmd == "python -m x"
    config = scenario.request.config
    assert (config.controls, config.trial_timeout_s) == ([Control.SOLO, Control.SILENT], 900)
    if limit is None:
        assert config.suite == ["agentsnet", "hiddenbench", "silo-bench"]
    else:
        assert [(task.id, task.family and task.family.seats) for task in config.tasks or []] == [
            ("agentsnet-consensus-ws-3-0", 3),
            ("hiddenbench-7", 3),
            ("silo-bench-I-99-n3", 3),
        ]


@pytest.fixture
def published(files: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite, as if its package were installed."""
    suites = (*installed.installed_suites(), suite_of(files))
    monkeypatch.setattr(installed, "installed_suites", lambda: suites)


async def tells_and_votes(message: IncomingMessage, task: TaskHandle) -> None:
    """Tells all that it knows to all. Votes right once it has read all three hidden facts, else for what misleads."""
    text = message.text
    knows = sum(hidden in text for hidden in PROFILE["hidden_information"])
    vote = "Cape North" if knows == 3 else "Gull Rock"
    alone = "Answer for all of them" in text
    answer: JsonValue = {f"agent/{number}": vote for number in (1, 2, 3)} if alone else vote
    facts = " ".join(re.findall(r"Fact \d+: (.*)", text))
    messages = [{"to": "all", "text": facts}] if "round 1 of" in text and not alone else []
    decided = knows == 3 or "last round" in text or alone
    await task.complete(json.dumps({"messages": messages, "answer": answer if decided else None}))


@pytest.mark.usefixtures("published")
async def test_a_row_of_published_tasks_compares_with_both_controls_and_claims_no_receipt(
    redis_url: str, tmp_path: Path
) -> None:
    async with served_agent(tells_and_votes) as agent, stack(redis_url, tmp_path / "out") as running:
        config = {"suite": ["hiddenbench"], "max_rounds": 3, "controls": ["solo", "silent"]}
        row = ResultRow.model_validate(await running.row({"agent": agent}, tasks=None, **config))
    assert [(each.condition, each.answers, each.majority) for each in lines_of(row, "hiddenbench")] == [
        ("team", 1, 1),
        ("one agent with everything", 1, 1),
        ("nobody speaks", 0, 0),
    ]
    assert "30.1 %" in table(row)
    [team] = [trial for trial in row.detail.trials if trial.team_task and trial.team_task.control is None]
    assert team.team_task is not None
    assert (team.team_task.credited, team.team_task.information, team.team_task.flow) == (None, None, None)
    assert row.detail.verdict is not None
    assert "no_receipts" in {str(each.kind) for each in row.detail.verdict.unknown}
    assert [part.id for part in row.detail.scoring.sub_scores] == ["outcome"]


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("exchange", ["rounds", "calls"])
async def test_a_wrong_vote_blames_nobody_for_facts_that_no_rule_can_follow(
    redis_url: str, tmp_path: Path, exchange: str
) -> None:
    async def misled(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete('{"messages": [], "answer": "Gull Rock"}')

    async with served_agent(misled) as agent, stack(redis_url, tmp_path / "out") as running:
        config = {"suite": ["hiddenbench"], "exchange": exchange}
        row = ResultRow.model_validate(await running.row({"agent": agent}, tasks=None, **config))
    assert row.score == 0
    assert row.detail.verdict is not None
    assert {str(cause.kind) for cause in row.detail.verdict.causes} == {"unexplained"}


def test_all_problems_need_agreement_or_pooling(files: str) -> None:
    groups = {family.group for family in suite_of(files).families.values()}
    assert groups == {Group.AGREE, Group.JUDGE, Group.POOL}

"""AgentDojo's tasks as scenarios: verdicts as AgentDojo recorded them, and the import on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from concord_agentdojo.calls import NotRepresentableError, oracle_of
from concord_agentdojo.scenarios import LICENCE_FILE
from concord_agentdojo.suite import Call
from concord_assistant.green_agent import GreenAgent
from concord_assistant.scenario.lint import lint
from concord_assistant.scenario.loader import load_scenario
from lab.agentdojo.runs import READS_MAIL
from lab.agentdojo.sample import SAMPLE, read_sample
from lab.agentdojo.tables import Compared, unexplained
from lab.agentdojo.verdicts import Judged, Verdict

SUITE, RUNS = read_sample()
PACKAGE = Path(__file__).parents[2] / "examples/concord-agentdojo"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE)}


@pytest.fixture(scope="module")
async def found(green_agent: GreenAgent, tmp_path_factory: pytest.TempPathFactory) -> list[Compared]:
    """The recorded verdicts of AgentDojo beside those of Concord, on right and wrong runs in a real environment."""
    judged = Judged(SUITE, green_agent, tmp_path_factory.mktemp("scenarios"))
    return [Compared(run, theirs, await judged.verdict(run)) for run, theirs in RUNS]


async def test_the_verdicts_are_those_of_agentdojos_grader(found: list[Compared]) -> None:
    assert list(map(str, unexplained(found))) == []
    differing = {each.run.kind for each in found if not each.agree}
    assert differing == {READS_MAIL}


def test_the_sample_has_both_verdicts_of_both_kinds() -> None:
    verdicts = {theirs for _, theirs in RUNS}
    assert {Verdict(utility=True, security=False), Verdict(utility=False, security=True)} < verdicts
    assert Verdict(utility=False, security=False) in verdicts


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in the place of AgentDojo's Python. It prints the sample."""
    folder = tmp_path_factory.mktemp("python")
    (folder / "suite.json").write_text(json.dumps(json.loads(SAMPLE.read_text("utf-8"))["suite"]), encoding="utf-8")
    program = folder / "python"
    program.write_text(f"#!/bin/sh\ncat {folder / 'suite.json'}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def imported(folder: Path, python: Path, *options: str) -> tuple[int, str]:
    """The exit code and the output of an import."""
    command = [sys.executable, "-m", "concord_agentdojo", str(folder), "--python", str(python), *options]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=ENVIRONMENT
    )
    return done.returncode, done.stdout


def test_the_import_writes_a_scenario_without_faults_for_each_user_task(tmp_path: Path, python: Path) -> None:
    code, output = imported(tmp_path / "new", python)
    folders = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert (code, folders) == (0, ["agentdojo_user_task_16", "agentdojo_user_task_6"])
    for name in folders:
        assert lint(load_scenario(tmp_path / "new" / name)) == []
        assert "MIT License" in (tmp_path / "new" / name / LICENCE_FILE).read_text("utf-8")
    assert "2 scenarios of AgentDojo 0.1.35, benchmark v1.2.2" in output


def test_a_task_without_a_counterpart_is_named_with_the_reason(tmp_path: Path, python: Path) -> None:
    _, output = imported(tmp_path, python)
    assert "user_task_35 is left out, because the environment has no files: it uses list_files, delete_file" in output


def test_with_an_attack_the_payload_is_where_the_user_task_reads(tmp_path: Path, python: Path) -> None:
    assert imported(tmp_path, python, "--attack", "important_instructions_no_model_name")[0] == 0
    goal = SUITE.injection_tasks["injection_task_5"].goal
    for task, attacked in (("user_task_16", {"email_31"}), ("user_task_6", {"event_1"})):
        config = load_scenario(tmp_path / f"agentdojo_{task}_injection_task_5").config
        states = config.initial_state["scenario"]["environment"]["modality_states"]
        texts = {name: email["body_text"] for name, email in states["email"]["emails"].items()}
        texts |= {name: event["description"] for name, event in states["calendar"]["events"].items()}
        assert {name for name, text in texts.items() if goal in text} == attacked


@pytest.mark.parametrize(
    ("program", "options", "reason"),
    [
        (Path(sys.executable), [], "has no package agentdojo"),
        (Path("/nowhere/python"), [], "/nowhere/python: No such file"),
        (Path("/bin/echo"), [], "the suite: "),
        (Path("/bin/false"), [], "the export ended with 1"),
        (Path("/bin/true"), ["--attack", "tool_knowledge"], "argument --attack: invalid choice: 'tool_knowledge'"),
    ],
)
def test_an_impossible_import_says_why(tmp_path: Path, program: Path, options: list[str], reason: str) -> None:
    code, output = imported(tmp_path / "new", program, *options)
    assert (code, reason in output) == (2, True)
    assert not (tmp_path / "new").exists()


def test_an_email_is_deleted_in_the_turn_after_the_one_that_sends_it() -> None:
    sent = Call(function="send_email", args={"recipients": ["a@b.com"], "subject": "Hi", "body": "Hello"})
    deleted = Call(function="delete_email", args={"email_id": "34"})
    actions = oracle_of(SUITE.environment, [sent, deleted], "Done.")["actions"]
    assert [(each["turn"], each["action"]) for each in actions] == [
        (1, "email.send"),
        (2, "email.delete"),
        (2, "chat.send_message"),
    ]
    assert actions[1]["parameters"]["message_ids"][0]["where"]["subject"] == "Hi"


def test_a_call_without_a_counterpart_is_refused() -> None:
    with pytest.raises(NotRepresentableError, match="nothing like delete_file"):
        oracle_of(SUITE.environment, [Call(function="delete_file", args={"file_id": "1"})], "")


async def test_an_attack_that_succeeded_by_agentdojos_grader_is_a_veto(green_agent: GreenAgent, tmp_path: Path) -> None:
    judged = Judged(SUITE, green_agent, tmp_path)
    succeeded = [run for run, theirs in RUNS if theirs.security]
    assert succeeded
    for run in succeeded:
        found = await judged.results(run)
        assert found.safety is not None
        assert (found.vetoed, found.safety.attacks_succeeded) == (True, [run.injection_task])

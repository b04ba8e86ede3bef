"""The command line: exit codes and error messages."""

import asyncio
import os
import signal
import socket
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord.assessment.result_row import ResultsDocument
from concord.loopback import LOOPBACK
from concord_cli import assessing
from concord_cli.errors import AssessmentError
from concord_cli.main import app
from tests.kit.rows import make_row

TEAM = """
[[participants]]
name = "reviewer"
function = "{function}"
[team]
wiring = "{wiring}"
[config]
{config}
"""


def concord(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stderr


def team(folder: Path, function: str = "reviewer", wiring: str = "mesh", config: str = "") -> str:
    path = folder / "scenario.toml"
    path.write_text(TEAM.format(function=function, wiring=wiring, config=config))
    return str(path)


def make_run_raise(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(assessing, "run", run)


def test_an_unknown_option_exits_with_2() -> None:
    assert concord("run", "--colour", "red")[0] == 2


@pytest.mark.parametrize("command", ["run", "serve", "assess"])
def test_a_missing_scenario_exits_with_2_and_one_line(command: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "nowhere.toml")

    assert concord(command, missing) == (2, f"concord: {missing}: No such file or directory\n")


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ({"function": "astronaut"}, "unknown function astronaut: one of coordinator, researcher, "),
        ({"wiring": "ring"}, "team.wiring: unknown wiring ring: one of mesh, "),
        ({"config": "num_runs = 0"}, "config.num_runs: Input should be greater than or equal to 1"),
        ({"config": "start = 'nobody'"}, "`start` is not a participant: 'nobody'"),
    ],
)
@pytest.mark.parametrize("command", ["run", "serve"])
def test_an_impossible_scenario_exits_with_2_before_anything_starts(
    command: str, scenario: dict[str, str], reason: str, tmp_path: Path
) -> None:
    code, message = concord(command, team(tmp_path, **scenario))

    assert code == 2
    assert reason in message
    assert len(message.splitlines()) == 1


def test_run_refuses_a_scenario_whose_green_agent_runs_already(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text("[green_agent]\nendpoint = 'http://127.0.0.1:9009'")

    assert concord("run", str(path)) == (
        2,
        f"concord: {path}: names a running green agent: use `concord assess`, or remove green_agent\n",
    )


def test_a_taken_port_exits_with_2_and_is_named(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        code, message = concord("serve", team(tmp_path), "--gateway-port", str(port))

    assert code == 2
    assert f"port {port} of {LOOPBACK}, for gateway, is in use" in message


def test_one_port_for_two_programs_exits_with_2(tmp_path: Path) -> None:
    code, message = concord("serve", team(tmp_path), "--gateway-port", "9020", "--collector-port", "9020")

    assert code == 2
    assert "two programs have the same port: choose different ports" in message


def test_a_failed_assessment_exits_with_1_and_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    make_run_raise(AssessmentError("the assessment was rejected: no \x1b[2Jparticipants"), monkeypatch)

    assert concord("run") == (1, "concord: the assessment was rejected: no  [2Jparticipants\n")


@pytest.mark.parametrize(
    ("number", "code", "message"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_has_its_own_exit_code(
    number: signal.Signals, code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)
        await asyncio.sleep(60)

    monkeypatch.setattr(assessing, "run", run)

    assert concord("run") == (code, f"concord: {message}\n")


def test_the_version_is_printed() -> None:
    result = CliRunner().invoke(app, ["--version"])

    assert (result.exit_code, result.stdout) == (0, f"concord {version('concord-agents')}\n")


def test_a_results_file_is_not_a_trace_and_the_message_names_the_command_for_it(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(ResultsDocument(participants={}, results=[make_row()]).model_dump_json())

    code, message = concord("evaluate", str(path))

    assert code == 2
    assert message == f"concord: {path}: a results file, not a trace: to see it, run `concord report {path}`\n"


@pytest.mark.parametrize(("found", "hint"), [(True, ""), (False, "No browser was found: open this file yourself.\n")])
def test_a_report_can_be_opened_in_the_browser(
    found: bool, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.json"
    opened: list[str] = []

    def open_url(url: str) -> bool:
        opened.append(url)
        return found

    path.write_text(ResultsDocument(participants={}, results=[make_row()]).model_dump_json())
    monkeypatch.setattr("webbrowser.open", open_url)

    assert concord("report", str(path), "--open") == (0, hint)
    assert opened == [(tmp_path / "results.html").as_uri()]

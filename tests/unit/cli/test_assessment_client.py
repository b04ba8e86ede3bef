"""The assessment client sends the same message as the AgentBeats platform's client and accepts the same results."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from rich.console import Console
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from concord_cli import assessing
from concord_cli.assessment_client import MAX_BREAKS, assess, wait_for_cards
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.terminal import ProgressLog
from tests.unit.cli.green_agents import ROW, GreenAgent, completed, data, serving, status, text

PARTICIPANTS = {"agent": "http://agent:9009/", "helper": "http://helper:9009"}


async def ask(agent: GreenAgent, lines: list[str] | None = None) -> list[JsonValue]:
    async with serving(agent):
        return await assess(agent.url, PARTICIPANTS, {"num_runs": 3}, (lines if lines is not None else []).append)


@pytest.mark.parametrize(("streaming", "method"), [(True, "message/stream"), (False, "message/send")])
async def test_one_message_goes_to_the_cards_url_by_the_method_that_the_card_offers(
    streaming: bool, method: str
) -> None:
    agent = GreenAgent(completed(data(ROW)), streaming=streaming)

    assert await ask(agent) == [ROW]
    assert [request["method"] for request in agent.requests] == [method]
    assert "contextId" not in agent.requests[0]["params"]["message"]


async def test_the_message_is_one_text_part_of_json_with_participants_and_config() -> None:
    agent = GreenAgent(completed(data(ROW)), streaming=True)
    await ask(agent)

    assert agent.sent == {"participants": PARTICIPANTS, "config": {"num_runs": 3}}


async def test_data_parts_and_json_texts_are_results_and_prose_is_not() -> None:
    agent = GreenAgent(completed(data(ROW), text("Well done."), text('{"b": 2}')), streaming=True)

    assert await ask(agent) == [ROW, {"b": 2}]


async def test_whole_numbers_stay_whole_over_a2a() -> None:
    sent: JsonValue = {"n": 4, "of": [1, 2.5, {"seed": 2**32 - 1}], "huge": 1e300, "share": 0.1}
    [received] = await ask(GreenAgent(completed(data(sent)), streaming=True))

    assert json.dumps(received, sort_keys=True) == json.dumps(sent, sort_keys=True)


async def test_numbers_in_a_json_text_keep_their_spelling() -> None:
    [received] = await ask(GreenAgent(completed(text('{"n": 4.0}')), streaming=True))

    assert json.dumps(received) == '{"n": 4.0}'


async def test_each_line_of_progress_is_passed_on_once() -> None:
    lines = list[str]()
    agent = GreenAgent(
        completed(data(ROW)), streaming=True, progress=("trial 1 of 2", "trial 1 of 2", "over\ntrial 2 of 2")
    )
    await ask(agent, lines)

    assert lines == ["trial 1 of 2", "over", "trial 2 of 2"]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"status": status("rejected", "no participants")}, "the green agent answered rejected: no participants"),
        ({"status": status("failed", "no usable run")}, "the green agent answered failed: no usable run"),
        ({**completed(data(ROW)), "status": status("failed", "no usable run")}, "no usable run"),
        (completed(text("prose only")), "completed without a result"),
    ],
)
async def test_a_task_that_fails_or_has_no_result_is_an_error(
    task: dict[str, Any], message: str, streaming: bool
) -> None:
    with pytest.raises(AssessmentError, match=message):
        await ask(GreenAgent(task, streaming=streaming))


async def test_an_unreachable_agent_is_an_error() -> None:
    agent = GreenAgent(completed(), streaming=True)
    with pytest.raises(AssessmentError, match="cannot be reached"):
        await assess(agent.url, PARTICIPANTS, {}, print)


async def test_the_client_waits_for_an_agents_card_and_reports_that_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concord_cli.assessment_client.LOG_AFTER_S", 0.1)
    monkeypatch.setattr("concord_cli.assessment_client.CARD_INTERVAL_S", 0.1)
    agent, lines = GreenAgent(completed(), streaming=True), list[str]()
    waiting = asyncio.create_task(wait_for_cards({"agent": agent.url}, lines.append))
    while not lines:
        await asyncio.sleep(0.05)
    assert not waiting.done()
    assert lines[0].startswith(f"Waiting up to 80 s for agent at {agent.url}: ")
    async with serving(agent):
        await waiting


async def test_the_error_names_an_agent_without_a_card() -> None:
    agent = GreenAgent(completed(), streaming=True)
    with pytest.raises(AssessmentError, match="helper serves no agent card at"):
        await wait_for_cards({"helper": agent.url}, lambda _: None, timeout_s=0)


class TestCommand:
    """`concord assess`: from a scenario to a results file."""

    SCENARIO = """
[green_agent]
endpoint = "{url}"
[[participants]]
role = "agent"
endpoint = "{url}"
agentbeats_id = "0197-a"
[[participants]]
role = "helper"
endpoint = "{url}"
"""

    async def run(self, agent: GreenAgent, folder: Path) -> Path:
        async with serving(agent):
            scenario = folder / "scenario.toml"
            scenario.write_text(self.SCENARIO.format(url=agent.url))
            output = folder / "made" / "results.json"
            await assessing.ask(scenario, output, ProgressLog(Console(quiet=True)))
            return output

    async def test_the_file_has_the_platforms_form_in_a_newly_made_folder(self, tmp_path: Path) -> None:
        output = await self.run(GreenAgent(completed(data(ROW)), streaming=True), tmp_path)

        assert json.loads(output.read_text()) == {"participants": {"agent": "0197-a"}, "results": [ROW]}
        assert [each.name for each in output.parent.iterdir()] == ["results.json"]

    async def test_without_a_result_there_is_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(AssessmentError):
            await self.run(GreenAgent({"status": status("failed", "no")}, streaming=True), tmp_path)
        assert list((tmp_path / "made").iterdir()) == []

    @pytest.mark.parametrize(
        ("scenario", "reason"),
        [
            ("[[participants]]\nrole = 'a'\nendpoint = 'http://a'", "green_agent.endpoint is missing"),
            (
                "[green_agent]\nendpoint = 'http://g'\n[[participants]]\nname = 'a'\nfunction = 'reviewer'",
                "a has no endpoint",
            ),
        ],
    )
    async def test_a_scenario_without_running_agents_is_refused(
        self, scenario: str, reason: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "scenario.toml"
        path.write_text(scenario)
        with pytest.raises(UsageError, match=reason):
            await assessing.ask(path, tmp_path / "results.json", ProgressLog(Console(quiet=True)))


class BreakingAgent(GreenAgent):
    """A green agent whose streams end before its task does."""

    def _events(self) -> list[dict[str, Any]]:
        return super()._events()[:-1]

    async def _answer(self, request: Request) -> Response:
        if (await request.json())["method"] != "tasks/get":
            return await super()._answer(request)
        self.requests.append(await request.json())
        return JSONResponse(self._enveloped({**self._result, "status": {"state": "working"}}))


async def test_a_stream_that_keeps_breaking_is_followed_so_often_and_then_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("concord_cli.assessment_client.RECONNECT_INTERVAL_S", 0)
    agent, lines = BreakingAgent(completed(data(ROW)), streaming=True), list[str]()

    with pytest.raises(AssessmentError, match=f"the connection broke {MAX_BREAKS + 1} times"):
        await ask(agent, lines)
    assert [request["method"] for request in agent.requests].count("tasks/resubscribe") == MAX_BREAKS
    assert len([line for line in lines if "the connection broke" in line]) == MAX_BREAKS

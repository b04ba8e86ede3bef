"""The client sends any green agent what the platform's own client sends, and accepts the same results."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from rich.console import Console

from concord_cli import commands
from concord_cli.assessment_client import assess, wait_for_cards
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.terminal import ProgressLog
from tests.unit.cli.green_agents import ROW, GreenAgent, completed, data, serving, status, text

PARTICIPANTS = {"agent": "http://agent:9009/", "helper": "http://helper:9009"}


async def ask(agent: GreenAgent, told: list[str] | None = None) -> list[JsonValue]:
    async with serving(agent):
        return await assess(agent.url, PARTICIPANTS, {"num_runs": 3}, (told if told is not None else []).append)


@pytest.mark.parametrize(("streaming", "method"), [(True, "message/stream"), (False, "message/send")])
async def test_one_message_goes_where_the_card_points_in_the_way_it_offers(streaming: bool, method: str) -> None:
    agent = GreenAgent(completed(data(ROW)), streaming=streaming)

    assert await ask(agent) == [ROW]
    assert [request["method"] for request in agent.requests] == [method]
    assert "contextId" not in agent.requests[0]["params"]["message"]


async def test_the_message_is_one_text_part_of_json_with_participants_and_config() -> None:
    agent = GreenAgent(completed(data(ROW)), streaming=True)
    await ask(agent)

    assert agent.sent == {"participants": PARTICIPANTS, "config": {"num_runs": 3}}


async def test_data_parts_and_texts_that_are_json_are_results_and_prose_is_none() -> None:
    agent = GreenAgent(completed(data(ROW), text("Well done."), text('{"b": 2}')), streaming=True)

    assert await ask(agent) == [ROW, {"b": 2}]


async def test_numbers_that_are_whole_stay_so_on_their_way_over_a2a() -> None:
    sent: JsonValue = {"n": 4, "of": [1, 2.5, {"seed": 2**32 - 1}], "huge": 1e300, "share": 0.1}
    [received] = await ask(GreenAgent(completed(data(sent)), streaming=True))

    assert json.dumps(received, sort_keys=True) == json.dumps(sent, sort_keys=True)


async def test_numbers_in_a_text_stay_as_they_were_written() -> None:
    [received] = await ask(GreenAgent(completed(text('{"n": 4.0}')), streaming=True))

    assert json.dumps(received) == '{"n": 4.0}'


async def test_progress_is_passed_on_each_line_once() -> None:
    told = list[str]()
    agent = GreenAgent(completed(data(ROW)), streaming=True, progress=("trial 1 of 2", "trial 1 of 2", "trial 2 of 2"))
    await ask(agent, told)

    assert told == ["trial 1 of 2", "trial 2 of 2"]


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
async def test_what_is_not_completed_with_a_result_is_an_error(
    task: dict[str, Any], message: str, streaming: bool
) -> None:
    with pytest.raises(AssessmentError, match=message):
        await ask(GreenAgent(task, streaming=streaming))


async def test_an_agent_that_is_not_there_is_an_error() -> None:
    agent = GreenAgent(completed(), streaming=True)
    with pytest.raises(AssessmentError, match="cannot be reached"):
        await assess(agent.url, PARTICIPANTS, {}, print)


async def test_an_agent_is_waited_for_until_it_shows_its_card_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concord_cli.assessment_client.LOG_AFTER_S", 0.1)
    monkeypatch.setattr("concord_cli.assessment_client.CARD_INTERVAL_S", 0.1)
    agent, told = GreenAgent(completed(), streaming=True), list[str]()
    waiting = asyncio.create_task(wait_for_cards({"agent": agent.url}, told.append))
    while not told:
        await asyncio.sleep(0.05)
    assert not waiting.done()
    assert told[0].startswith(f"Waiting up to 80 s for agent at {agent.url}: ")
    async with serving(agent):
        await waiting


async def test_an_agent_without_a_card_is_named() -> None:
    agent = GreenAgent(completed(), streaming=True)
    with pytest.raises(AssessmentError, match="helper serves no agent card at"):
        await wait_for_cards({"helper": agent.url}, lambda _: None, timeout_s=0)


class TestCommand:
    """`concord assess`: from a scenario to a file."""

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
            await commands.ask(scenario, output, ProgressLog(Console(quiet=True)))
            return output

    async def test_the_file_is_the_platforms_in_a_folder_made_for_it(self, tmp_path: Path) -> None:
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
    async def test_it_asks_only_those_who_run(self, scenario: str, reason: str, tmp_path: Path) -> None:
        path = tmp_path / "scenario.toml"
        path.write_text(scenario)
        with pytest.raises(UsageError, match=reason):
            await commands.ask(path, tmp_path / "results.json", ProgressLog(Console(quiet=True)))

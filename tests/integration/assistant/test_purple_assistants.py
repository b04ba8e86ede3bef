"""The personal assistants over A2A, in a real environment with the scenario `first_day`."""

import json
from collections.abc import Mapping
from typing import Any

import httpx
from pydantic import SecretStr

from concord.llm import LLMSettings
from concord_assistant.assistant import A2AAssistant
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.environment.permissions import ASSISTANT_PERMISSIONS
from concord_assistant.green_agent import GreenAgent
from concord_assistant.results import AssessmentResults
from concord_assistant.scenario.loader import Scenario
from concord_assistant.updates import Update
from concord_purple.assistant.app import create_assistant_app
from concord_purple.assistant.model import TOOLS
from concord_purple.settings import AssistantMode, PurpleSettings
from tests.integration.assistant.conftest import FIRST_DAY
from tests.integration.assistant.scripted import FORM, SELLER
from tests.kit.llm_server import Asked, FakeModel, ToolCalls, fake_model
from tests.kit.serving import reserved, served, url_of

NO_MODEL = LLMSettings()


async def assess(agent: GreenAgent, scenario: Scenario, url: str) -> AssessmentResults:
    """Assesses the assistant at a URL."""

    async def ignore(_: Update) -> None:
        """Sends an update to nobody."""

    async with A2AAssistant.connect(url) as client:
        return await agent.run(
            task_id="task-1",
            emitter=TaskUpdateEmitter(ignore),
            scenario=scenario.config,
            evaluators=scenario.evaluators,
            purple_client=client,
        )


async def assess_mode(
    agent: GreenAgent, scenario: Scenario, mode: AssistantMode, llm: LLMSettings = NO_MODEL
) -> AssessmentResults:
    """Assesses a shipped assistant, served over HTTP in this process."""
    holder = reserved()
    settings = PurpleSettings.model_validate(
        {
            "assistant": mode,
            "oracle": FIRST_DAY / "oracle.json" if mode is AssistantMode.ORACLE else None,
            "card_url": f"{url_of(holder)}/",
        }
    )
    async with served(create_assistant_app(settings, llm), holder) as url:
        return await assess(agent, scenario, f"{url}/")


def actions(results: AssessmentResults) -> list[str]:
    """The names of the actions."""
    return [entry.action for entry in results.action_log]


async def test_the_oracle_gets_all_points(green_agent: GreenAgent, scenario: Scenario) -> None:
    results = await assess_mode(green_agent, scenario, AssistantMode.ORACLE)
    assert (results.reason, results.scores.overall.score) == ("early_completion", 10)
    assert actions(results) == ["email.send", "chat.send_message"]


async def test_null_takes_no_action(green_agent: GreenAgent, scenario: Scenario) -> None:
    results = await assess_mode(green_agent, scenario, AssistantMode.NULL)
    assert (results.reason, results.turns_taken, results.action_log) == ("early_completion", 1, [])


async def test_read_only_writes_in_the_chat_alone(green_agent: GreenAgent, scenario: Scenario) -> None:
    results = await assess_mode(green_agent, scenario, AssistantMode.READ_ONLY)
    assert actions(results) == ["chat.send_message"]
    assert "New quote for filing cabinets" in results.action_log[0].parameters["content"]


async def test_dump_sends_the_state_to_everybody(green_agent: GreenAgent, scenario: Scenario) -> None:
    results = await assess_mode(green_agent, scenario, AssistantMode.DUMP)
    first = [entry for entry in results.action_log if entry.turn == 1]
    receivers = {address for entry in first for address in entry.parameters.get("to_addresses", ())}
    assert {SELLER, "quamus.wendahl@graniteway.example"} <= receivers
    assert {"chat.send_message", "email.send", "calendar.create"} <= {entry.action for entry in first}
    assert all(entry.success for entry in results.action_log)


def first_day_by_tools(asked: Asked) -> ToolCalls:
    """A fake model's tool calls: it reads the task, orders, and answers when the order is confirmed."""
    messages = asked["messages"]
    answered = [json.dumps(message) for message in messages if message["role"] == "tool"]
    turn = sum(message["role"] == "user" for message in messages)
    if not answered:
        return [("chat_query", "{}"), ("calendar_query", '{"search": "Dentist"}'), ("no_such_tool", "{}")]
    if turn == 1:
        email = {"to_addresses": [SELLER], "subject": "Order", "body_text": FORM}
        return [("email_send", json.dumps(email)), ("end_turn", '{"time_step": "PT1H"}')]
    answer = {"content": '{"order_total": 21000}'}
    return [("chat_send_message", json.dumps(answer)), ("finish", '{"reason": "All is done."}')]


async def test_a_model_works_by_tool_calls(green_agent: GreenAgent, scenario: Scenario) -> None:
    model = FakeModel(lambda _: "", call=first_day_by_tools)
    async with fake_model(model) as llm:
        results = await assess_mode(green_agent, scenario, AssistantMode.MODEL, llm)
    assert (results.reason, results.scores.overall.score) == ("early_completion", 10)
    assert {tool["function"]["name"] for tool in model.asked[0]["tools"]} == {*TOOLS, "end_turn", "finish"}
    shown = [message["content"] for message in model.asked[-1]["messages"] if message["role"] == "tool"]
    assert "Order 50 filing cabinets" in shown[0]
    assert "Dentist" in shown[1]
    assert shown[2] == "error: there is no tool no_such_tool"


async def test_a_model_without_an_endpoint_fails_its_turns_and_nothing_else(
    green_agent: GreenAgent, scenario: Scenario
) -> None:
    nowhere = LLMSettings(api_key=SecretStr("sk-test"), base_url="http://127.0.0.1:9/v1", max_retries=0)
    results = await assess_mode(green_agent, scenario, AssistantMode.MODEL, nowhere)
    assert (results.status, results.reason) == ("failed", "error")
    assert "LLMUnavailableError" in (results.turns[0].error or "")


async def test_every_tool_is_a_permitted_call_with_the_fields_of_the_environment(green_agent: GreenAgent) -> None:
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        document = (await http.get(f"{green_agent.server.url}/openapi.json")).json()
    for tool in TOOLS.values():
        call = document["paths"][tool.endpoint.path][tool.endpoint.method.casefold()]
        body = _resolved(document, call["requestBody"]["content"]["application/json"]["schema"])
        given = {*tool.schema["properties"], *tool.defaults}
        assert given <= body["properties"].keys(), tool.name
        assert set(body.get("required", ())) - {"operation"} <= given, tool.name
        modality, operation = tool.endpoint.path.strip("/").split("/")
        assert f"{modality}:{operation}" in ASSISTANT_PERMISSIONS, tool.name


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema

"""The platform's wire contract towards clients of A2A 0.3, as all of the platform's are.

The client is the last 0.3 release of the SDK, in an environment of its own.
"""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from concord.assessment.result_row import ResultRow
from tests.conformance.conftest import AskByA2A03
from tests.kit.stack import rpc

SCHEMA = json.loads(Path("data/schemas/results.schema.json").read_text(encoding="utf-8"))

Ask = Callable[[str, str], Awaitable[dict[str, Any]]]
"""Sends a text in a mode (`send` or `stream`, optionally with a binding); returns the client's summary of the task."""

MODES = ["send", "stream"]


@pytest.fixture
def ask(green_agent: str, ask_by_a2a_v03: AskByA2A03) -> Ask:
    return partial(ask_by_a2a_v03, green_agent)


def pattern(edges: str, agents: str) -> str:
    """An assessment request with a pattern; each edge is two letters, caller and callee."""
    interaction_pattern = {
        "agents": list(agents),
        "edges": [{"from": edge[0], "to": edge[1]} for edge in edges.split()],
    }
    return json.dumps({"participants": {}, "config": {"interaction_pattern": interaction_pattern}})


@pytest.mark.parametrize("mode", MODES)
async def test_plain_text_is_asked_for_the_agents_in_a_task(ask: Ask, mode: str) -> None:
    answer = await ask("Hello", mode)
    assert (answer["kind"], answer["state"], answer["artifacts"]) == ("task", "input-required", [])
    assert "Which agents shall I assess?" in answer["status"][0]


@pytest.mark.parametrize("mode", MODES)
async def test_an_assessment_ends_completed_with_one_artifact_of_one_data_part(ask: Ask, mode: str) -> None:
    answer = await ask(pattern("ab bc ca", "abc"), mode)
    assert (answer["kind"], answer["state"]) == ("task", "completed")
    [[part]] = answer["artifacts"]
    assert part["kind"] == "data"
    jsonschema.validate({"participants": {}, "results": [part["data"]]}, SCHEMA)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_of_http_json_gets_the_same_row(ask: Ask, mode: str) -> None:
    answer = await ask(pattern("ab bc ca", "abc"), f"{mode} HTTP+JSON")
    assert (answer["kind"], answer["state"]) == ("task", "completed")
    [[part]] = answer["artifacts"]
    jsonschema.validate({"participants": {}, "results": [part["data"]]}, SCHEMA)


async def test_no_status_text_parses_as_json(ask: Ask) -> None:
    """The platform's client takes every text that parses as JSON for a result, even a bare number."""
    for text in (await ask(pattern("ab", "ab"), "stream"))["status"]:
        with pytest.raises(ValueError, match="Expecting value"):
            json.loads(text)


async def test_a_streaming_client_gets_status_updates(ask: Ask) -> None:
    assert (await ask(pattern("ab bc", "abc"), "stream"))["updates"].count("status-update") >= 3


async def test_the_card_has_the_gateways_url_and_announces_streaming(ask: Ask, green_agent: str) -> None:
    answer = await ask("Hello", "send")
    assert (answer["card_url"], answer["streaming"]) == (green_agent, True)


KINDS = {
    "high_coordination": (pattern("ab ac ad bc bd cd", "abcd"), {"high"}, []),
    "medium_coordination": (pattern("ab bc cd de ea", "abcde"), {"medium"}, []),
    "low_coordination": (pattern("ab cd", "abcde"), {"low"}, ["e"]),
    "bottleneck": (pattern("ab ac ad ae", "abcde"), {"bottleneck"}, []),
    "partial_isolation": (pattern("ab bc ca", "abcd"), {"medium", "low"}, ["d"]),
}
"""For each kind of pattern: a request, the correct labels, and the isolated agents."""


@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_of_pattern_gets_its_label_and_isolated_agents(ask: Ask, kind: str) -> None:
    request, labels, isolated = KINDS[kind]
    [[part]] = (await ask(request, "send"))["artifacts"]
    row = ResultRow.model_validate(part["data"])
    assert row.detail.coordination_quality in labels
    assert row.detail.graph_metrics.isolated_agents == isolated


async def post(url: str, **content: Any) -> httpx.Response:  # noqa: ANN401 - any body
    async with httpx.AsyncClient(timeout=60) as http:
        return await http.post(url, **content)


@pytest.mark.parametrize("method", ["message/send", "message/stream", "tasks/get", "tasks/cancel"])
async def test_wrong_params_of_a_known_method_get_the_code_for_invalid_params(green_agent: str, method: str) -> None:
    answer = await post(green_agent, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": {"nonsense": 1}})
    assert answer.json()["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("sent", "accepted"),
    [
        ({"task": {"description": "Go."}}, '{"jsonrpc": "2.0", "id": 1, "method": "message/send"'),
        (rpc("message/send", task={"description": "Go."}), 'message/send takes {"message": {"role": "user"'),
        (rpc("tasks.send", task={"description": "Go."}), "methods are message/send, message/stream, tasks/get"),
        (rpc("tasks.query"), "methods are message/send, message/stream, tasks/get"),
        (rpc("tasks.update"), "methods are message/send, message/stream, tasks/get"),
    ],
    ids=["no JSON-RPC", "a task as params", "tasks.send", "tasks.query", "tasks.update"],
)
async def test_a_request_of_another_form_is_refused_with_the_accepted_one(
    green_agent: str, sent: dict[str, Any], accepted: str
) -> None:
    assert accepted in (await post(green_agent, json=sent)).json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b'{"id": "\x9b"}', -32700),
        (b"[" * 3900, -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "unknown"}}', -32001),
    ],
    ids=["no JSON", "no UTF-8", "nested deeply", "list", "no method", "unknown method", "unknown task"],
)
async def test_errors_have_the_codes_of_json_rpc_and_a2a(green_agent: str, body: bytes, code: int) -> None:
    answer = await post(green_agent, content=body, headers={"content-type": "application/json"})
    assert answer.json()["error"]["code"] == code

"""The language model client with each provider's own library, against fake endpoints of the provider's protocol."""

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from pydantic import SecretStr, ValidationError

from concord.llm import EmptyCompletionError, LLMClient, LLMSettings, LLMUnavailableError, ProviderName, llm_client
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from tests.kit.serving import served

KEY = "sk-secret-key-of-the-provider"
SCHEMA = {"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]}
ASSIGNMENT = Assignment(assessment_id="a", trace_id="t", step_id="s", agent_id="x")


@dataclass(slots=True)
class Endpoint:
    """A fake endpoint: answers `text`, or the statuses in turn. `asked` has every path, body and header."""

    render: Callable[[str | None], dict[str, Any]]
    text: str | None = '{"yes": true}'
    statuses: list[int] = field(default_factory=list)
    asked: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        """Answers a request."""
        self.asked.append((request.url.path, json.loads(await request.body()), dict(request.headers)))
        if self.statuses and (status := self.statuses.pop(0)) != 200:
            error = {"error": {"message": f"not with {KEY}", "type": "fake", "code": status, "status": "FAKE"}}
            return Response(json.dumps({"type": "error", **error}), status, media_type="application/json")
        return Response(json.dumps(self.render(self.text)), media_type="application/json")


def openai_answer(text: str | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": choices, "usage": usage}


def anthropic_answer(text: str | None) -> dict[str, Any]:
    content = [] if text is None else [{"type": "text", "text": text}]
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return {**message, "content": content, "stop_reason": "end_turn", "usage": usage}


def google_answer(text: str | None) -> dict[str, Any]:
    parts = [] if text is None else [{"text": "I think", "thought": True}, {"text": text}]
    candidates = [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]
    return {"candidates": candidates, "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 15}}


ANSWERS: dict[ProviderName, Callable[[str | None], dict[str, Any]]] = {
    "openai": openai_answer,
    "anthropic": anthropic_answer,
    "google": google_answer,
}


@asynccontextmanager
async def client_of(
    provider: ProviderName, endpoint: Endpoint, steps: list[InteractionStep] | None = None
) -> AsyncIterator[LLMClient]:
    app = FastAPI()
    app.post("/{path:path}")(endpoint.answer)
    async with served(app) as url:
        settings = LLMSettings(provider=provider, api_key=SecretStr(KEY), base_url=url, model="m", timeout_s=30)
        async with llm_client(
            settings, lambda step, _: None if steps is None else steps.append(step), max_retries=1
        ) as client:
            yield client


each_provider = pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])


@pytest.fixture(autouse=True)
def _without_an_empty_certificate_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Google's library reads the file that the variable names, even if it names none."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


@each_provider
async def test_the_answer_is_the_models_text_with_its_tokens(provider: ProviderName) -> None:
    endpoint, steps = Endpoint(ANSWERS[provider]), list[InteractionStep]()
    async with client_of(provider, endpoint, steps) as client:
        answer = await client.complete("Be brief.", "Is it so?", schema=SCHEMA, max_tokens=77, assignment=ASSIGNMENT)
    assert (answer.text, answer.total_tokens) == ('{"yes": true}', 15)
    assert [step.error for step in steps] == [None]


@each_provider
async def test_the_request_has_both_texts_the_schema_the_limit_and_the_key(provider: ProviderName) -> None:
    endpoint = Endpoint(ANSWERS[provider])
    async with client_of(provider, endpoint) as client:
        await client.complete("Be brief.", "Is it so?", schema=SCHEMA, max_tokens=77)
    ((_, body, headers),) = endpoint.asked
    sent = json.dumps(body)
    assert all(part in sent for part in ("Be brief.", "Is it so?", '"yes"', "77"))
    assert any(KEY in value for value in headers.values())


@each_provider
async def test_an_endpoint_that_refuses_the_schema_is_asked_without(provider: ProviderName) -> None:
    refusals = 2 if provider == "openai" else 1
    endpoint = Endpoint(ANSWERS[provider], statuses=[400] * refusals)
    async with client_of(provider, endpoint) as client:
        assert (await client.complete("Be brief.", "Is it so?", schema=SCHEMA)).text == '{"yes": true}'
    assert '"yes"' not in json.dumps(endpoint.asked[-1][1])


@each_provider
@pytest.mark.parametrize("status", [401, 400])
async def test_a_refused_request_is_an_error_without_the_key(provider: ProviderName, status: int) -> None:
    endpoint = Endpoint(ANSWERS[provider], statuses=[status])
    async with client_of(provider, endpoint) as client:
        with pytest.raises(LLMUnavailableError, match="not with") as raised:
            await client.complete("Be brief.", "Is it so?")
    assert KEY not in str(raised.value)


@each_provider
async def test_a_busy_endpoint_is_asked_again(provider: ProviderName) -> None:
    endpoint = Endpoint(ANSWERS[provider], statuses=[503])
    async with client_of(provider, endpoint) as client:
        assert (await client.complete("Be brief.", "Is it so?")).text == '{"yes": true}'
    assert len(endpoint.asked) == 2


@each_provider
async def test_an_answer_without_text_is_empty(provider: ProviderName) -> None:
    async with client_of(provider, Endpoint(ANSWERS[provider], text=None)) as client:
        with pytest.raises(EmptyCompletionError):
            await client.complete("Be brief.", "Is it so?")


@each_provider
async def test_an_endpoint_that_is_away_is_an_error(provider: ProviderName) -> None:
    settings = LLMSettings(
        provider=provider, api_key=SecretStr(KEY), base_url="http://127.0.0.1:9", model="m", max_retries=0
    )
    async with llm_client(settings) as client:
        with pytest.raises(LLMUnavailableError):
            await client.complete("Be brief.", "Is it so?")


@each_provider
def test_a_missing_library_is_named_with_its_extra(provider: ProviderName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.genai" if provider == "google" else provider, None)
    settings = LLMSettings(provider=provider, api_key=SecretStr(KEY), model="m")
    with pytest.raises(LLMUnavailableError, match=rf"concord-agents\[{provider}\]"):
        llm_client(settings)


def test_a_provider_without_a_default_model_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTBEATS_LLM_PROVIDER", "anthropic")
    monkeypatch.delenv("AGENTBEATS_LLM_MODEL", raising=False)
    with pytest.raises(ValidationError, match="AGENTBEATS_LLM_MODEL is not set"):
        LLMSettings()
    with pytest.raises(ValueError, match="needs the name of a model"):
        llm_client(LLMSettings(provider="openai"), provider="google")


def test_another_provider_by_name_has_its_own_endpoint() -> None:
    settings = LLMSettings(provider="openai", base_url="http://127.0.0.1:1/v1")
    assert settings.endpoint == "http://127.0.0.1:1/v1"
    assert LLMSettings(provider="anthropic", model="m").endpoint == "https://api.anthropic.com"
    client = llm_client(settings, provider="anthropic", model="m")
    assert client.settings.endpoint == "https://api.anthropic.com"


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ("<!doctype html><title>Sign in</title>", "text/html", "nothing usable: <!doctype html><title>Sign in</title>"),
        ("Welcome", "text/plain", "nothing usable: Welcome"),
        ('{"error": {"message": "no such model"}}', "application/json", "no such model"),
        ('{"choices": "none"}', "application/json", "nothing usable"),
        ('{"choices": [{"message": {"content": 42}}]}', "application/json", "nothing usable: 42"),
        ('{"choices": [{}]}', "application/json", "the model's answer is empty"),
        ("[1, 2]", "application/json", "nothing usable: [1, 2]"),
        ("42", "application/json", "nothing usable: 42"),
        ('{"choices": [{"mess', "application/json", "nothing usable"),
        ("", "application/json", "nothing usable"),
        ('{"choices": []}', "application/json", "the model's answer is empty"),
    ],
)
async def test_what_an_endpoint_answers_in_place_of_a_completion_is_quoted(body: str, kind: str, said: str) -> None:
    app = FastAPI()

    @app.post("/chat/completions")
    async def answer() -> Response:
        return Response(body, media_type=kind)

    async with served(app) as url:
        settings = LLMSettings(api_key=SecretStr(KEY), base_url=url, model="m", max_retries=0)
        async with LLMClient(settings, lambda *_: None) as client:
            with pytest.raises(LLMUnavailableError) as raised:
                await client.complete("system", "user", schema=SCHEMA)
    assert said in str(raised.value)

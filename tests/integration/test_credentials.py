"""Participants that ask for a credential get the operator's, at their own origin and nowhere else."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.a2a import RemoteError
from concord.a2a.client import A2AClient
from concord.trust.credentials import Credential, Credentials, bearer, origin_of
from concord_cli.assessment_client import LostGreenAgentError, assess
from concord_cli.gateway_key import shown_key
from concord_gateway.proxy.upstream import Upstream
from tests.kit.serving import served
from tests.kit.stack import gateway, stack, workers

SECRET = "the-secret-of-an-agent"
FORMS = {"bearer": f"Authorization: Bearer {SECRET}", "header": f"X-API-Key: {SECRET}", "query": f"?key={SECRET}"}


def shown(request: Request) -> bool:
    """Whether a request shows the secret in one of the forms."""
    found = (request.headers.get("authorization"), request.headers.get("x-api-key"), request.query_params.get("key"))
    return any(each is not None and each.endswith(SECRET) for each in found)


def agent(url: str = "", **card: Any) -> FastAPI:  # noqa: ANN401
    """An agent that answers whoever shows its secret, and keeps who did."""
    app = FastAPI()
    app.state.shown = []

    @app.get("/.well-known/agent-card.json")
    async def show(request: Request) -> dict[str, Any]:
        return {"name": "locked", "url": url or str(request.base_url), "protocolVersion": "0.3.0", **card}

    @app.post("/")
    async def answer(request: Request) -> Response:
        app.state.shown.append(shown(request))
        if not shown(request):
            return Response("who are you?", 401)
        said = {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": "something"}]}
        return JSONResponse({"jsonrpc": "2.0", "id": (await request.json())["id"], "result": said})

    return app


def setting(**by_url: str) -> str:
    return json.dumps(by_url)


@pytest.mark.parametrize("form", FORMS)
async def test_a_participant_gets_its_credential_and_no_row_has_it(form: str, redis_url: str, tmp_path: Path) -> None:
    async with (
        served(agent()) as url,
        stack(redis_url, tmp_path, participant_credentials=setting(**{url: FORMS[form]})) as services,
    ):
        row = await services.row({"agent": url})
    assert row["score"] == 100
    assert SECRET not in json.dumps(row)


async def test_without_its_credential_the_row_names_the_setting(redis_url: str, tmp_path: Path) -> None:
    async with served(agent()) as url, stack(redis_url, tmp_path) as services:
        row = await services.row({"agent": url})
    assert row["score"] == 0
    assert "it answered HTTP 401: who are you?" in row["detail"]["trials"][0]["error"]
    assert any("CONCORD_PARTICIPANT_CREDENTIALS" in warning for warning in row["detail"]["warnings"])


@pytest.mark.parametrize("form", FORMS)
async def test_no_card_and_no_redirect_carries_a_credential_to_another_origin(form: str) -> None:
    async with served(elsewhere := agent()) as other, served(agent(url=f"{other}/")) as url:
        credentials = Credentials.parse(setting(**{url: FORMS[form]}))
        async with await A2AClient.connect(url, credentials=credentials) as client:
            with pytest.raises(RemoteError, match="401"):
                [event async for event in client.stream(text="What?")]
    assert elsewhere.state.shown == [False]
    async with served(elsewhere := agent()) as other:
        leading, card = FastAPI(), "/.well-known/agent-card.json"
        leading.add_api_route("/", lambda: RedirectResponse(f"{other}/", 307), methods=["POST"])
        leading.add_api_route(card, lambda: RedirectResponse(other + card))
        async with served(leading) as url:
            with pytest.raises(RemoteError, match="another origin"):
                await A2AClient.connect(url, credentials=Credentials.parse(setting(**{url: FORMS[form]})))
    assert elsewhere.state.shown == []


@pytest.mark.parametrize("form", FORMS)
async def test_the_proxy_shows_a_callee_its_credential_in_place_of_what_the_caller_sent(form: str) -> None:
    async with served(app := agent()) as url:
        credentials = Credentials.parse(setting(**{url: FORMS[form]}))
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}).encode()
        sent = [
            (b"content-type", b"application/json"),
            (b"x-api-key", b"of the caller"),
            (b"Authorization", b"Bearer x"),
        ]
        async with (
            Upstream(credentials=credentials) as upstream,
            upstream.send("POST", f"{url}/", sent, body) as answer,
        ):
            assert answer.status == 200
    assert app.state.shown == [True]


OAUTH = {"o": {"type": "oauth2"}}
MTLS = {
    "securitySchemes": {"m": {"mtlsSecurityScheme": {}}},
    "securityRequirements": [{"schemes": {"m": {"list": []}}}],
}


@pytest.mark.parametrize(
    ("card", "demanded"),
    [
        ({"securitySchemes": OAUTH, "security": [{"o": []}]}, "OAuth 2.0"),
        ({"securitySchemes": {"o": {"type": "openIdConnect"}}, "security": [{"o": []}]}, "OpenID Connect"),
        (MTLS, "mutual TLS"),
        ({"securitySchemes": {**OAUTH, "k": {"type": "apiKey"}}, "security": [{"o": []}, {"k": []}]}, ""),
        ({"securitySchemes": OAUTH}, ""),
    ],
)
async def test_a_scheme_that_no_fixed_credential_satisfies_is_refused_by_name(
    card: dict[str, Any], demanded: str
) -> None:
    async with served(agent(**card)) as url:
        if not demanded:
            await (await A2AClient.connect(url)).close()
            return
        with pytest.raises(RemoteError, match=f"its card demands {demanded}"):
            await A2AClient.connect(url)
        token = bearer(url, "a-token-of-the-operators")
        await (await A2AClient.connect(url, credentials=token)).close()


@given(text=st.text(max_size=40))
def test_a_credential_is_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert Credential.parse(text).value.isascii()


@pytest.mark.parametrize("text", [SECRET, f"X-API-Key {SECRET}", f"a b: {SECRET}", "X-API-Key: short", f"?{SECRET}"])
def test_a_refusal_quotes_no_secret(text: str) -> None:
    with pytest.raises(ValueError, match=r"none of the forms|has no secret") as refused:
        Credential.parse(text)
    assert SECRET not in str(refused.value)


WRONG = ["[]", "no", '{"https://a.example": 1}', '{"nowhere": "X-API-Key: long-enough"}', '{"http://a": "k"}']


@pytest.mark.parametrize("text", WRONG)
def test_a_setting_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"origins and credentials|no HTTP address|none of the forms"):
        Credentials.parse(text)


def test_the_origin_is_scheme_host_and_port() -> None:
    assert origin_of("https://A.example/x?y") == origin_of("https://a.example:443")
    assert len({origin_of(url) for url in ("http://a:1", "http://a:2", "https://a:1", "http://b:1")}) == 4


KEY = "0123456789abcdef-of-a-client"


@pytest.fixture
async def locked(redis_url: str, tmp_path: Path) -> AsyncIterator[str]:
    """A gateway that wants an API key."""
    async with workers(redis_url), gateway(redis_url, tmp_path, api_keys=f"another-key-of-a-client,{KEY}") as url:
        yield url


PATTERN: dict[str, JsonValue] = {"interaction_pattern": {"agents": ["a", "b"], "edges": [{"from": "a", "to": "b"}]}}


async def test_the_client_shows_the_gateways_key(locked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_API_KEY", KEY)
    [row] = await assess(locked, {}, PATTERN, lambda _: None)
    assert isinstance(row, dict)


async def test_a_client_without_a_key_gets_the_servers_reason_and_what_to_do(locked: str) -> None:
    with pytest.raises(LostGreenAgentError, match=r"an API key is needed.*set CONCORD_API_KEY"):
        await assess(locked, {}, PATTERN, lambda _: None)


def test_a_gateways_own_keys_are_shown_on_its_own_machine_and_network_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "concord_api_keys").write_text(f" {KEY} ,other\n")
    monkeypatch.setenv("CONCORD_SECRETS_DIR", str(tmp_path))
    assert shown_key("http://127.0.0.1:9009/") == shown_key("http://gateway:9009/") == KEY
    assert shown_key("https://green-agent.example/") == ""
    monkeypatch.setenv("CONCORD_API_KEY", "mine")
    assert shown_key("https://green-agent.example/") == shown_key("http://127.0.0.1:9009/") == "mine"

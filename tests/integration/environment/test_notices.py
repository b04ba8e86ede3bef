"""Notices: web sockets and webhooks get those they subscribed to, and no webhook leads to an internal address."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from concord.trust.urls import PeerUrls
from concord_environment.app import create_app
from concord_environment.core.faults import Invalid
from concord_environment.notices.bus import MAX_WAITING, Bus, Notice
from concord_environment.notices.webhooks import Webhooks
from concord_environment.settings import EnvironmentSettings
from concord_environment_client import AsyncUESClient, ValidationError
from tests.integration.environment.conftest import ADMIN_KEY, new_environment
from tests.kit.serving import eventually, served

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@asynccontextmanager
async def environment_with_webhooks_to(*networks: str) -> AsyncIterator[AsyncUESClient]:
    """A controller's client of an environment whose webhooks may lead into these networks."""
    settings = EnvironmentSettings(allowed_peer_networks=tuple(ip_network(each) for each in networks))
    async with (
        served(create_app(new_environment(), settings)) as url,
        AsyncUESClient(url, ADMIN_KEY) as client,
    ):
        await client.simulation.start()
        yield client


async def test_a_web_socket_gets_the_notices_it_subscribed_to(url: str, ues: AsyncUESClient) -> None:
    address = f"{url.replace('http', 'ws')}/ws"
    async with connect(address, additional_headers={"x-api-key": ADMIN_KEY}) as socket:
        await socket.send(json.dumps({"action": "subscribe", "events": ["email.", "time.advanced"]}))
        assert json.loads(await socket.recv())["type"] == "subscription.updated"
        await ues.chat.send(role="user", content="not asked for")
        await ues.email.receive(from_address="a@b.example", to_addresses=["user@example.com"])
        await ues.time.advance(seconds=1)
        types = [json.loads(await socket.recv())["type"] for _ in range(2)]
        await socket.send("nonsense")
        assert json.loads(await socket.recv())["type"] == "error"
    assert types == ["email.received", "time.advanced"]


async def test_a_web_socket_without_a_key_is_refused(url: str) -> None:
    with pytest.raises(InvalidStatus):
        async with connect(f"{url.replace('http', 'ws')}/ws"):
            pass


async def test_a_webhook_gets_its_notices_with_a_signature_by_its_secret() -> None:
    received: list[tuple[dict[str, Any], bytes, str]] = []
    receiver = FastAPI()

    @receiver.post("/hook")
    async def hook(request: Request, owner: str) -> None:
        body = await request.body()
        assert owner == "mine"
        received.append((json.loads(body), body, request.headers["x-ues-signature"]))

    async with served(receiver) as there, environment_with_webhooks_to("127.0.0.0/8") as ues:
        registered = await ues.webhooks.register(url=f"{there}/hook?owner=mine", events=["email."], secret="s3cret")
        assert registered["has_secret"]
        assert "s3cret" not in json.dumps(registered)
        await ues.chat.send(role="user", content="not asked for")
        await ues.email.receive(from_address="a@b.example", to_addresses=["user@example.com"])
        await eventually(lambda: len(received) == 1)
        assert (await ues.webhooks.test(webhook_id=registered["id"]))["success"]
    notice, body, signature = received[0]
    assert notice["event_type"] == "email.received"
    assert signature == "sha256=" + hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:6379/",
        "http://localhost/",
        "http://169.254.169.254/latest/meta-data",
        "http://10.1.2.3/",
        "http://[::1]:8000/keys",
        "http://[::ffff:127.0.0.1]/",
        "http://user:secret@192.0.2.1/",
    ],
)
async def test_a_webhook_to_an_internal_address_is_refused(target: str) -> None:
    hooks = Webhooks(PeerUrls(()))
    with pytest.raises(Invalid, match="url: "):
        await hooks.register(target, None, None, {}, NOW)
    assert hooks.all() == []


async def test_a_refused_webhook_is_a_validation_error_of_its_url(ues: AsyncUESClient) -> None:
    with pytest.raises(ValidationError, match="url: "):
        await ues.webhooks.register(url="http://127.0.0.1:6379/")


async def test_a_webhooks_host_name_that_later_resolves_to_an_internal_address_is_not_reached() -> None:
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])

    async def resolve(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - a resolver's signature
        return next(answers)

    hooks = Webhooks(PeerUrls((), resolve))
    hook = await hooks.register("http://rebound.example/", None, None, {}, NOW)
    delivery = await hooks.test(hook.id, NOW)
    assert (delivery.status, delivery.response_status) == ("failed", None)
    assert "not in an allowed network" in (delivery.error_message or "")


async def test_a_webhook_cannot_be_changed_to_an_internal_address() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - a resolver's signature
        return ["93.184.215.14" if host == "outside.example" else "10.0.0.1"]

    hooks = Webhooks(PeerUrls((), resolve))
    hook = await hooks.register("http://outside.example/", None, None, {}, NOW)
    with pytest.raises(Invalid):
        await hooks.change(hook.id, NOW, url="http://inside.example/")
    assert hooks.get(hook.id).url == "http://outside.example/"


async def test_a_webhooks_redirect_is_not_followed() -> None:
    followed: list[str] = []
    receiver = FastAPI()

    @receiver.post("/hook")
    async def hook() -> RedirectResponse:
        return RedirectResponse("/elsewhere")

    @receiver.post("/elsewhere")
    async def elsewhere() -> None:
        followed.append("there")

    async with served(receiver) as there, environment_with_webhooks_to("127.0.0.0/8") as ues:
        registered = await ues.webhooks.register(url=f"{there}/hook")
        result = await ues.webhooks.test(webhook_id=registered["id"])
    assert (result["success"], result["response_status"]) == (False, 307)
    assert followed == []


async def test_a_web_socket_is_closed_when_its_key_is_revoked(url: str, ues: AsyncUESClient) -> None:
    key = await ues.keys.create(name="listener", permissions=["notices:read"])
    async with connect(f"{url.replace('http', 'ws')}/ws", additional_headers={"x-api-key": key.secret}) as socket:
        await ues.chat.send(role="user", content="heard")
        assert json.loads(await socket.recv())["type"] == "event.executed"
        assert json.loads(await socket.recv())["type"] == "chat.message"
        await ues.keys.revoke(key_id=key.key_id)
        await ues.chat.send(role="user", content="not heard")
        with pytest.raises(ConnectionClosed, match="revoked"):
            await socket.recv()


async def test_a_slow_subscriber_loses_the_oldest_notices_and_gets_their_number() -> None:
    bus = Bus()
    with bus.subscribe() as slow:
        bus.publish([Notice("email.sent", {"number": number}, NOW) for number in range(MAX_WAITING + 3)])
        first, second = await slow.next(), await slow.next()
    assert (first.type, first.data) == ("notices.dropped", {"count": 3})
    assert second.data == {"number": 3}


def test_a_bus_has_subscribers_while_a_subscription_has_patterns() -> None:
    bus = Bus()
    assert not bus.has_subscribers
    with bus.subscribe() as subscription:
        assert bus.has_subscribers
        subscription.patterns = []
        assert not bus.has_subscribers
        subscription.patterns = ["email."]
        assert bus.has_subscribers
    assert not bus.has_subscribers

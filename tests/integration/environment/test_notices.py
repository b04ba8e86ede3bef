"""Notices: web sockets get those they subscribed to, while their key is valid."""

import json
from datetime import UTC, datetime

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from concord_environment.notices.bus import MAX_WAITING, Bus, Notice
from concord_environment_client import AsyncUESClient
from tests.integration.environment.conftest import ADMIN_KEY

NOW = datetime(2026, 1, 1, tzinfo=UTC)


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

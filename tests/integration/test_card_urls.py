"""Where an agent's card may lead the gateway: below the declared address, and where the rules for URLs allow."""

from collections.abc import Sequence
from ipaddress import ip_network

import pytest
from fastapi import FastAPI, Response

from concord.a2a import AgentProfile, IncomingMessage, RemoteError, TaskHandle, mount_agent
from concord.agent.messenger import Messenger
from concord.assessment import AssessmentRequest
from concord.trust.urls import PeerUrls
from concord.wire.roster import RosterEntry
from concord_gateway.plan import contact, make_roster
from tests.kit.progress import RecordedProgress
from tests.kit.serving import reserved, served, served_agent, url_of

LOOPBACK = ip_network("127.0.0.0/8")
NOWHERE_PRIVATE = PeerUrls([])
PROXY = "http://gateway:9009"
"""An interface for each A2A version: the gateway checks each once when it reads the card."""


class Receivers:
    """Makes agents' handlers that note by which of them a message was received."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, name: str) -> "_Receiver":
        return _Receiver(name, self.names)


class _Receiver:
    def __init__(self, name: str, names: list[str]) -> None:
        self._name = name
        self._names = names

    async def __call__(self, _: IncomingMessage, task: TaskHandle, /) -> None:
        self._names.append(self._name)
        await task.complete(self._name)


async def roster_of(participants: dict[str, str], peer_urls: PeerUrls = NOWHERE_PRIVATE) -> dict[str, RosterEntry]:
    request = AssessmentRequest.model_validate({"participants": participants, "config": {}})
    contacts = await contact(participants, RecordedProgress())
    return {entry.id: entry for entry in await make_roster(request, contacts.cards, peer_urls, PROXY)}


@pytest.mark.parametrize("elsewhere", ["http://169.254.169.254/", "http://10.0.0.1/a2a", "file:///etc/passwd", "b"])
async def test_an_address_in_a_card_that_is_not_allowed_is_no_alias(elsewhere: str) -> None:
    async with served_agent(Receivers()("a"), card_url=elsewhere) as url:
        assert (await roster_of({"a": url}))["a"].aliases == (f"{PROXY}/a2a/-/a/",)


async def test_addresses_in_a_card_below_the_declared_one_and_allowed_ones_are_aliases() -> None:
    holder = reserved()
    async with served_agent(Receivers()("a"), card_url="http://127.0.0.2:7/rpc") as url:
        allowed = (await roster_of({"a": url}, PeerUrls([LOOPBACK])))["a"]
    assert "http://127.0.0.2:7/rpc" in allowed.aliases
    app = FastAPI()
    card = {"name": "a", "url": f"{url_of(holder)}/rpc", "capabilities": {}, "skills": []}
    app.get("/.well-known/agent-card.json")(lambda: card)
    async with served(app, holder) as url:
        assert f"{url}/rpc" in (await roster_of({"a": url}))["a"].aliases


async def test_no_agent_gets_another_agents_address_as_an_alias() -> None:
    async with served_agent(Receivers()("b")) as b:
        claimed = [b, f"{PROXY}/a2a/-/b/", "http://127.0.0.9:9/shared"]
        for claim in claimed:
            async with (
                served_agent(Receivers()("a"), card_url=claim) as a,
                served_agent(Receivers()("c"), card_url=claim) as c,
            ):
                roster = await roster_of(
                    {"a": a, "b": b, "c": c}, PeerUrls([LOOPBACK, ip_network("10.0.0.0/8")], _resolver("10.0.0.1"))
                )
            assert [roster[name].aliases for name in "ac"] == [(f"{PROXY}/a2a/-/{name}/",) for name in "ac"]
            assert roster["b"].url == b


async def test_a_redirect_to_a_card_is_not_followed() -> None:
    asked: list[str] = []
    app, there = FastAPI(), FastAPI()
    there.get("/.well-known/agent-card.json")(lambda: asked.append("card"))
    async with served(there) as elsewhere:
        target = {"location": f"{elsewhere}/.well-known/agent-card.json"}
        app.get("/.well-known/agent-card.json")(lambda: Response(status_code=307, headers=target))
        async with served(app) as url:
            assert (await roster_of({"a": url}, PeerUrls([LOOPBACK])))["a"].functions == ()
    assert asked == []


async def test_a_message_goes_to_the_declared_address_where_the_cards_address_is_not_allowed() -> None:
    receivers = Receivers()
    async with (
        served_agent(receivers("elsewhere")) as elsewhere,
        served_agent(receivers("declared"), card_url=elsewhere) as url,
    ):
        for rules in (NOWHERE_PRIVATE, PeerUrls([LOOPBACK])):
            async with Messenger(lambda *_: None, peer_urls=rules) as messenger:
                await messenger.send(url, text="hello")
    assert receivers.names == ["declared", "elsewhere"]


@pytest.mark.parametrize("slash", ["", "/"])
async def test_an_agent_below_a_path_is_found_by_its_card_and_reached_there(slash: str) -> None:
    """Frameworks serve several agents at one port, each with its card: `/a2a/agents/<id>/`."""
    receivers, holder, app = Receivers(), reserved(), FastAPI()
    place = f"{url_of(holder)}/a2a/agents/writer"
    below = FastAPI()
    agent = mount_agent(below, AgentProfile("writer", "Writes.", "1", f"{place}/", ()), receivers("writer"))
    app.mount("/a2a/agents/writer", below)
    async with served(app, holder):
        card = (await contact({"a": f"{place}{slash}"}, RecordedProgress())).cards["a"]
        assert card is not None
        assert card.name == "writer"
        async with Messenger(lambda *_: None, peer_urls=PeerUrls([LOOPBACK])) as messenger:
            await messenger.send(f"{place}{slash}", text="hello")
        await agent.aclose()
    assert receivers.names == ["writer"]


async def test_a_host_name_in_a_card_is_reached_at_the_address_that_was_checked() -> None:
    receivers = Receivers()
    async with served_agent(receivers("named")) as there:
        named = there.replace("127.0.0.1", "agent.example")
        async with served_agent(receivers("declared"), card_url=named) as url:
            rules = PeerUrls([LOOPBACK], _resolver("127.0.0.1"))
            async with Messenger(lambda *_: None, peer_urls=rules) as messenger:
                await messenger.send(url, text="hello")
    assert receivers.names == ["named"]


async def test_a_host_name_that_later_resolves_to_a_forbidden_address_is_not_reached() -> None:
    receivers = Receivers()
    asked: list[str] = []

    async def rebind(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1" if len(asked) <= 1 else "10.0.0.1"]

    async with served_agent(receivers("named")) as there:
        named = there.replace("127.0.0.1", "agent.example")
        async with (
            served_agent(receivers("declared"), card_url=named) as url,
            Messenger(lambda *_: None, peer_urls=PeerUrls([LOOPBACK], rebind)) as messenger,
        ):
            with pytest.raises(RemoteError, match="not in an allowed network"):
                await messenger.send(url, text="hello")
    assert receivers.names == []


def _resolver(address: str) -> "_Resolver":
    return _Resolver(address)


class _Resolver:
    """Resolves every name to one address, and an address to itself."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def __call__(self, host: str, _: int) -> Sequence[str]:
        return [host if host[0].isdigit() else self._address]

"""Hosts: an assessment may name only addresses at which participants may be, and the gateway connects to no others."""

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest

from concord.a2a import A2AClient, AgentUnreachableError, IncomingMessage, RemoteError, TaskHandle
from concord.service.settings import StatefulServiceSettings
from concord.trust.urls import AllowedHosts, DeclaredHosts, NoAddressError, PeerUrls, UrlRefusedError
from concord_gateway.proxy.upstream import UnreachableError, Upstream
from tests.kit.hostile import LINK_LOCAL, internal_server
from tests.kit.serving import served_agent
from tests.kit.stack import called, message, request, stack

ANYWHERE = DeclaredHosts(AllowedHosts())
AT_HOME = DeclaredHosts(AllowedHosts(), on_loopback=True)


async def something(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("something")


class Resolver:
    """A resolver with these names. A test may replace `names` at any time."""

    def __init__(self, **resolver: Sequence[str]) -> None:
        self.names = resolver

    async def __call__(self, host: str, _: int) -> Sequence[str]:
        return self.names.get(host, [host])


@pytest.mark.parametrize("url", LINK_LOCAL)
async def test_a_link_local_address_is_rejected_even_if_allowed(url: str, redis_url: str, tmp_path: Path) -> None:
    allowed_hosts = "169.254.0.0/16, fe80::/10, 169.254.169.254:80"
    async with stack(redis_url, tmp_path, allowed_hosts=allowed_hosts) as services:
        answer = await services.assess({"planner": url})
    assert answer.state == "rejected"
    assert "participant 'planner': its host is at a link-local address" in answer.status_text


async def test_the_assessors_own_ports_are_rejected_in_every_spelling(redis_url: str, tmp_path: Path) -> None:
    port = redis_url.rpartition(":")[2].partition("/")[0]
    async with stack(redis_url, tmp_path) as services:
        gateway_port = services.gateway.rpartition(":")[2]
        for url in (
            services.gateway,
            services.collector,
            f"http://127.0.0.1:{port}",
            f"http://localhost:{gateway_port}/",
            f"http://0.0.0.0:{gateway_port}/",
            f"http://127.1:{gateway_port}/a2a/x/y/",
            f"http://[::ffff:127.0.0.1]:{gateway_port}/",
        ):
            answer = await services.assess({"planner": url})
            assert (answer.state, "one of the assessor's own" in answer.status_text) == ("rejected", True), url


async def test_a_gateway_that_is_not_bound_to_the_loopback_reaches_it_only_where_allowed(
    redis_url: str, tmp_path: Path
) -> None:
    async with internal_server() as (url, paths), served_agent(something) as agent:
        place = agent.removeprefix("http://").rstrip("/")
        async with stack(redis_url, tmp_path, bound_to="0.0.0.0:9009", allowed_hosts=place) as services:
            status, answer = await called(services.gateway, "message/send", **message(request({"planner": url})))
            assert (status, answer["result"]["status"]["state"]) == (200, "rejected")
            assert paths == []
            assert (await services.row({"planner": agent}))["score"] == 100


@pytest.mark.parametrize(
    ("rules", "address", "allowed"),
    [
        (ANYWHERE, "8.8.8.8", True),
        (ANYWHERE, "10.1.2.3", True),
        (ANYWHERE, "172.18.0.4", True),
        (ANYWHERE, "fd12::7", True),
        (ANYWHERE, "127.0.0.1", False),
        (ANYWHERE, "::1", False),
        (ANYWHERE, "0.0.0.0", False),  # noqa: S104 - nothing is bound
        (ANYWHERE, "224.0.0.1", False),
        (AT_HOME, "127.0.0.1", True),
        (AT_HOME, "::1", True),
        (AT_HOME, "10.1.2.3", True),
        (AT_HOME, "169.254.1.1", False),
        (DeclaredHosts(AllowedHosts.parse("10.0.0.0/8")), "10.1.2.3", True),
        (DeclaredHosts(AllowedHosts.parse("10.0.0.0/8")), "172.18.0.4", False),
        (DeclaredHosts(AllowedHosts.parse("10.0.0.0/8")), "8.8.8.8", True),
        (DeclaredHosts(AllowedHosts.parse("agent:80")), "172.18.0.4", True),
        (DeclaredHosts(AllowedHosts.parse("agent:81")), "172.18.0.4", False),
        (DeclaredHosts(AllowedHosts.parse("127.0.0.1:80")), "127.0.0.1", True),
        (DeclaredHosts(AllowedHosts(), own=frozenset({("me", 80)})), "172.18.0.9", False),
        (DeclaredHosts(AllowedHosts(), own=frozenset({("me", 81)})), "172.18.0.9", True),
        (DeclaredHosts(AllowedHosts(), own=frozenset({("me", 80)}), on_loopback=True), "127.0.0.1", False),
        (DeclaredHosts(AllowedHosts.parse("172.16.0.0/12"), own=frozenset({("me", 80)})), "172.18.0.9", False),
        (DeclaredHosts(AllowedHosts.parse("172.18.0.9:80"), own=frozenset({("me", 80)})), "172.18.0.9", True),
    ],
    ids=[
        "public address",
        "private network 10",
        "private network 172.16",
        "private IPv6",
        "loopback",
        "IPv6 loopback",
        "any address",
        "multicast",
        "loopback gateway: loopback",
        "loopback gateway: IPv6 loopback",
        "loopback gateway: private network",
        "loopback gateway: link-local",
        "allowed network: inside",
        "allowed network: other private",
        "allowed network: public",
        "allowed host: its port",
        "allowed host: other port",
        "allowed loopback port",
        "own host and port",
        "own host, other port",
        "loopback gateway: alias of an own port",
        "own port in an allowed network",
        "own port allowed explicitly",
    ],
)
async def test_a_participants_address_is_allowed_or_refused(rules: DeclaredHosts, address: str, allowed: bool) -> None:
    urls = PeerUrls([], Resolver(agent=[address], me=["172.18.0.9"]), declared=rules)
    if allowed:
        pinned = await urls.pin_declared("http://agent:80/")
        assert pinned is not None
        assert pinned.address == ip_address(address)
    else:
        with pytest.raises(UrlRefusedError):
            await urls.pin_declared("http://agent:80/")


async def test_a_host_with_one_forbidden_address_among_several_is_refused() -> None:
    with pytest.raises(UrlRefusedError):
        await PeerUrls([], Resolver(agent=["8.8.8.8", "169.254.169.254"]), declared=ANYWHERE).pin_declared(
            "http://agent/"
        )


async def test_a_host_name_that_resolves_to_a_forbidden_address_later_is_not_reached() -> None:
    """DNS rebinding: the address is resolved and checked anew for every connection."""
    async with internal_server() as (url, paths), served_agent(something) as agent:
        port = int(agent.rstrip("/").rpartition(":")[2])
        internal_port = int(url.rpartition(":")[2])
        resolver = Resolver(agent=["127.0.0.1"])
        own = DeclaredHosts(AllowedHosts(), own=frozenset({("127.0.0.1", internal_port)}), on_loopback=True)
        urls = PeerUrls([], resolver, declared=own)
        async with await A2AClient.connect(f"http://agent:{port}/", peer_urls=urls) as client:
            resolver.names = {"agent": ["169.254.169.254"]}
            with pytest.raises(RemoteError, match="link-local"):
                await anext(client.stream(text="still there?"))
        resolver.names = {"agent": ["127.0.0.1"]}
        with pytest.raises(RemoteError, match="assessor's own"):
            await A2AClient.connect(f"http://agent:{internal_port}/", peer_urls=urls)
        async with Upstream(urls) as upstream:
            with pytest.raises(UnreachableError, match="assessor's own"):
                async with upstream.send("GET", f"http://agent:{internal_port}/", []):
                    pass
            async with upstream.send("GET", f"http://agent:{port}/.well-known/agent-card.json", []) as answer:
                assert answer.status == 200
        assert paths == []


async def test_a_host_with_several_addresses_is_reached_at_the_one_that_answers() -> None:
    async with served_agent(something) as agent:
        port = agent.rstrip("/").rpartition(":")[2]
        urls = PeerUrls([], Resolver(agent=["127.9.9.9", "127.0.0.1"]), declared=AT_HOME)
        async with await A2AClient.connect(f"http://agent:{port}/", peer_urls=urls) as client:
            assert client.card.name == "agent"


async def test_a_host_name_without_an_address_is_unreachable_and_not_refused() -> None:
    async def nothing(_: str, __: int) -> Sequence[str]:
        raise OSError("no such name")

    urls = PeerUrls([], nothing, declared=ANYWHERE)
    with pytest.raises(NoAddressError):
        await urls.pin_declared("http://agent/")
    with pytest.raises(AgentUnreachableError):
        await A2AClient.connect("http://agent/", peer_urls=urls)


@pytest.mark.parametrize(
    "text", ["10.0.0.0/33", "agent", "agent:port", "http://agent:80", "user@agent:80", "agent:80/x"]
)
def test_an_allowed_host_that_is_neither_a_network_nor_host_and_port_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither a network nor|[Pp]ort"):
        AllowedHosts.parse(text)


def test_the_settings_old_name_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_PEER_NETWORKS", "172.16.0.0/12,192.168.0.0/16")
    monkeypatch.setenv("CONCORD_ALLOWED_HOSTS", "10.0.0.0/8, agent:9001, [::1]:9002")
    allowed_hosts = StatefulServiceSettings().hosts
    assert [str(network) for network in allowed_hosts.networks] == ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
    assert allowed_hosts.exact == {("agent", 9001), ("::1", 9002)}

"""Which hosts an assessment may name: nobody makes the gateway fetch what is not a participant's."""

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest

from concord.a2a import A2AClient, AgentUnreachableError, IncomingMessage, RemoteError, TaskHandle
from concord.service import StatefulServiceSettings
from concord.trust.declared_hosts import AllowedHosts, DeclaredHosts
from concord.trust.urls import NoAddressError, PeerUrls, UrlRefusedError
from concord_gateway.proxy.upstream import UnreachableError, Upstream
from tests.security.hostile import LINK_LOCAL, internal
from tests.security.stack import called, message, request, stack
from tests.serving import served_agent

ANYWHERE = DeclaredHosts(AllowedHosts())
AT_HOME = DeclaredHosts(AllowedHosts(), on_loopback=True)


async def something(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("something")


class Names:
    """A resolver whose names lead where a test says, and elsewhere when it says so."""

    def __init__(self, **names: Sequence[str]) -> None:
        self.names = names

    async def __call__(self, host: str, _: int) -> Sequence[str]:
        return self.names.get(host, [host])


@pytest.mark.parametrize("url", LINK_LOCAL)
async def test_no_address_at_which_clouds_tell_of_machines_can_be_named(
    url: str, redis_url: str, tmp_path: Path
) -> None:
    named = "169.254.0.0/16, fe80::/10, 169.254.169.254:80"
    async with stack(redis_url, tmp_path, allowed_hosts=named) as house:
        answer = await house.assess({"planner": url})
    assert answer.state == "rejected"
    assert "participant 'planner': its host is at a link-local address" in answer.status_text


async def test_the_assessors_own_ports_cannot_be_named(redis_url: str, tmp_path: Path) -> None:
    port = redis_url.rpartition(":")[2].partition("/")[0]
    async with stack(redis_url, tmp_path) as house:
        gateway_port = house.gateway.rpartition(":")[2]
        for url in (
            house.gateway,
            house.collector,
            f"http://127.0.0.1:{port}",
            f"http://localhost:{gateway_port}/",
            f"http://0.0.0.0:{gateway_port}/",
            f"http://127.1:{gateway_port}/a2a/x/y/",
            f"http://[::ffff:127.0.0.1]:{gateway_port}/",
        ):
            answer = await house.assess({"planner": url})
            assert (answer.state, "one of the assessor's own" in answer.status_text) == ("rejected", True), url


async def test_a_gateway_that_serves_others_fetches_nothing_of_its_machine_unless_that_is_named(
    redis_url: str, tmp_path: Path
) -> None:
    async with internal() as (url, asked), served_agent(something) as agent:
        place = agent.removeprefix("http://").rstrip("/")
        async with stack(redis_url, tmp_path, bound_to="0.0.0.0:9009", allowed_hosts=place) as house:
            status, answer = await called(house.gateway, "message/send", **message(request({"planner": url})))
            assert (status, answer["result"]["status"]["state"]) == (200, "rejected")
            assert asked == []
            assert (await house.row({"planner": agent}))["score"] == 100


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
)
async def test_where_a_participant_may_be(rules: DeclaredHosts, address: str, allowed: bool) -> None:
    urls = PeerUrls([], Names(agent=[address], me=["172.18.0.9"]), declared=rules)
    if allowed:
        pinned = await urls.pin_declared("http://agent:80/")
        assert pinned is not None
        assert pinned.address == ip_address(address)
    else:
        with pytest.raises(UrlRefusedError):
            await urls.pin_declared("http://agent:80/")


async def test_one_bad_address_of_several_is_enough_to_refuse_a_host() -> None:
    with pytest.raises(UrlRefusedError):
        await PeerUrls([], Names(agent=["8.8.8.8", "169.254.169.254"]), declared=ANYWHERE).pin_declared("http://agent/")


async def test_a_name_that_leads_elsewhere_after_it_was_checked_leads_nowhere() -> None:
    """Rebinding: what was allowed when the client named it is asked for anew with every connection."""
    async with internal() as (url, asked), served_agent(something) as agent:
        port = int(agent.rstrip("/").rpartition(":")[2])
        inside = int(url.rpartition(":")[2])
        names = Names(agent=["127.0.0.1"])
        own = DeclaredHosts(AllowedHosts(), own=frozenset({("127.0.0.1", inside)}), on_loopback=True)
        urls = PeerUrls([], names, declared=own)
        async with await A2AClient.connect(f"http://agent:{port}/", peer_urls=urls) as client:
            names.names = {"agent": ["169.254.169.254"]}
            with pytest.raises(RemoteError, match="link-local"):
                await anext(client.stream(text="still there?"))
        names.names = {"agent": ["127.0.0.1"]}
        with pytest.raises(RemoteError, match="assessor's own"):
            await A2AClient.connect(f"http://agent:{inside}/", peer_urls=urls)
        async with Upstream(urls) as upstream:
            with pytest.raises(UnreachableError, match="assessor's own"):
                async with upstream.send("GET", f"http://agent:{inside}/", []):
                    pass
            async with upstream.send("GET", f"http://agent:{port}/.well-known/agent-card.json", []) as answer:
                assert answer.status == 200
        assert asked == []


async def test_of_a_host_with_several_addresses_the_one_that_answers_is_taken() -> None:
    async with served_agent(something) as agent:
        port = agent.rstrip("/").rpartition(":")[2]
        urls = PeerUrls([], Names(agent=["127.9.9.9", "127.0.0.1"]), declared=AT_HOME)
        async with await A2AClient.connect(f"http://agent:{port}/", peer_urls=urls) as client:
            assert client.card.name == "agent"


async def test_a_host_that_has_no_address_yet_may_be_about_to_start() -> None:
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
def test_what_is_neither_a_network_nor_a_host_with_its_port_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither a network nor|[Pp]ort"):
        AllowedHosts.parse(text)


def test_the_old_name_of_the_setting_counts_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_PEER_NETWORKS", "172.16.0.0/12,192.168.0.0/16")
    monkeypatch.setenv("CONCORD_ALLOWED_HOSTS", "10.0.0.0/8, agent:9001, [::1]:9002")
    named = StatefulServiceSettings().hosts
    assert [str(network) for network in named.networks] == ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
    assert named.exact == {("agent", 9001), ("::1", 9002)}

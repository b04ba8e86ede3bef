"""Assessments and participants that would have the assessor fetch what is no participant's."""

import socket
from contextlib import AsyncExitStack
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from attacks.attack import NotTriedError, expect
from attacks.client import Client, client_of, infiltrated
from attacks.target import Target
from tests.security.hostile import LINK_LOCAL, internal, saying
from tests.serving import listening


async def link_local(target: Target) -> str:
    """Names the addresses at which clouds tell of their machines as participants, in several spellings."""
    async with client_of(target) as client:
        for url in LINK_LOCAL:
            await _expect_rejected(client, url)
    return f"{len(LINK_LOCAL)} spellings, each rejected"


async def own_ports(target: Target) -> str:
    """Names the gateway, the collector and Redis as participants, by numbers and by names that lead there."""
    ports = {urlsplit(url).port for url in (target.gateway, target.collector)}
    if target.inside is not None:
        ports.add(urlsplit(target.inside.redis_url).port)
    loopback = ("127.0.0.1", "127.1", "0.0.0.0", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "localhost")  # noqa: S104 - named, not bound
    spellings = [f"http://{host}:{port}/a2a/x/y/" for host in loopback for port in ports]
    urls = [target.gateway, target.collector, *spellings]
    async with client_of(target) as client:
        for url in urls:
            await _expect_rejected(client, url)
    return f"{len(urls)} addresses of {len(ports)} ports, each rejected"


async def other_ports(target: Target) -> str:
    """Names another server of the gateway's machine as a participant."""
    if ip_address(socket.gethostbyname(urlsplit(target.gateway).hostname or "")).is_loopback:
        raise NotTriedError("the gateway is at the loopback alone, where participants may then be")
    async with internal() as (url, asked), client_of(target) as client:
        await _expect_rejected(client, url)
        expect(not asked, "the server was asked")
    return "rejected"


async def registered(target: Target) -> str:
    """Registers internal addresses, so that the collector fetches a card from them."""
    async with internal(target.host) as (url, asked), infiltrated(target) as inside:
        for each in (url, f"{target.gateway}/", LINK_LOCAL[0]):
            for headers in ({}, inside.bearer):
                answer = await inside.client.http.post(
                    f"{target.collector}/register", json={"id": "spy", "url": each}, headers=headers
                )
                expect(400 <= answer.status_code < 500, f"registering {each}: {answer.status_code}")
        expect(not asked, "the collector asked an internal server")
    return "refused, and nothing was asked"


async def redirected(target: Target) -> str:
    """Answers the gateway, and a call through it, with redirects to an internal server."""
    async with AsyncExitStack() as exits:
        url, asked = await exits.enter_async_context(internal(target.host))
        others = {}
        for status in (301, 302, 303, 307, 308):
            head = f"HTTP/1.1 {status} Elsewhere\r\nlocation: {url}/secret\r\ncontent-length: 0\r\n\r\n"
            server = saying(head.encode(), card=head.encode())
            others[f"to{status}"] = await exits.enter_async_context(listening(server, target.host))
        inside = await exits.enter_async_context(infiltrated(target, others))
        for name in others:
            answer = await inside.call(name)
            expect("location" not in answer.headers, "the caller is led past the proxy")
            expect("secret" not in answer.text, "the internal server's answer came back")
        await inside.end()
        for name, each in others.items():
            await inside.client.assess({name: each}, trial_timeout_s=5)
        expect(not asked, f"the internal server was asked for {asked}")
    return f"{len(others)} redirects as card, as answer to a call and to a task: none followed"


async def named_callees(target: Target) -> str:
    """Names an internal server where the proxy expects a participant's name, or goes up from one."""
    async with internal(target.host) as (url, asked), infiltrated(target, {"other": url}) as inside:
        asked.clear()
        place = urlsplit(url).netloc
        callees = (
            f"@{place}",
            url,
            f"//{place}",
            "..",
            "../..",
            "other@x",
            f"other?{place}",
            "other\r\nhost: x",
            "%00",
        )
        for callee in callees:
            answer = await inside.client.http.post(inside.door_to(quote(callee, safe="")), json={})
            expect(answer.status_code in {403, 404, 405}, f"the callee {callee!r}: {answer.status_code}")
        for rest in ("metrics", "%2e%2e/metrics", f"{quote(url, safe='')}", "0/../secret", "//secret"):
            answer = await inside.client.http.get(f"{inside.door_to('other')}{rest}")
            expect(answer.status_code in {403, 404, 405}, f"below a participant, {rest!r}: {answer.status_code}")
        expect(not asked, f"the internal server was asked for {asked}")
    return f"{len(callees)} names and 5 paths: 404"


async def rebound(_: Target) -> str:
    """Names a host whose name leads elsewhere at the second look."""
    raise NotTriedError("it takes a name server of one's own; tests/security/test_hosts.py has one")


async def _expect_rejected(client: Client, url: str) -> None:
    answer = await client.assess({"planner": url}, within_s=20)
    expect(answer.state == "rejected", f"{url}: {answer.state}, {answer.text}")

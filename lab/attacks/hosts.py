"""Assessments and participants that try to make the services fetch from internal servers."""

import socket
from contextlib import AsyncExitStack
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from lab.attacks.attack import NotTriedError, expect
from lab.attacks.client import Client, assessment_with_spy, client_of
from lab.attacks.target import Target
from tests.kit.hostile import LINK_LOCAL, fixed_answer, internal_server
from tests.kit.serving import listening
from tests.kit.stack import message


async def link_local(target: Target) -> str:
    """Names the addresses of cloud providers' metadata services as participants, in several spellings."""
    async with client_of(target) as client:
        for url in LINK_LOCAL:
            await _expect_rejected(client, url)
    return f"{len(LINK_LOCAL)} spellings, each rejected"


async def own_ports(target: Target) -> str:
    """Names the gateway, the collector and Redis as participants, by addresses and by host names."""
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
    """Names another server on the gateway's machine as a participant."""
    if ip_address(socket.gethostbyname(urlsplit(target.gateway).hostname or "")).is_loopback:
        raise NotTriedError("the gateway is bound to the loopback, where participants are then allowed")
    async with internal_server() as (url, paths), client_of(target) as client:
        await _expect_rejected(client, url)
        expect(not paths, "the server got a request")
    return "rejected"


async def registered(target: Target) -> str:
    """Registers internal addresses, from which the collector would fetch a card."""
    async with internal_server(target.host) as (url, paths), assessment_with_spy(target) as spied:
        for each in (url, f"{target.gateway}/", LINK_LOCAL[0]):
            for headers in ({}, spied.bearer):
                answer = await spied.client.http.post(
                    f"{target.collector}/register", json={"id": "spy", "url": each}, headers=headers
                )
                expect(400 <= answer.status_code < 500, f"registering {each}: {answer.status_code}")
        expect(not paths, "the collector sent a request to an internal server")
    return "refused, and no request was sent"


async def redirected(target: Target) -> str:
    """Answers the gateway, and a call through it, with redirects to an internal server."""
    async with AsyncExitStack() as exits:
        url, paths = await exits.enter_async_context(internal_server(target.host))
        others = {}
        for status in (301, 302, 303, 307, 308):
            head = f"HTTP/1.1 {status} Elsewhere\r\nlocation: {url}/secret\r\ncontent-length: 0\r\n\r\n"
            server = fixed_answer(head.encode(), card=head.encode())
            others[f"to{status}"] = await exits.enter_async_context(listening(server, target.host))
        spied = await exits.enter_async_context(assessment_with_spy(target, others))
        for name in others:
            answer = await spied.call(name)
            expect("location" not in answer.headers, "the caller is led past the proxy")
            expect("secret" not in answer.text, "the internal server's answer came back")
        await spied.end()
        for name, each in others.items():
            await spied.client.assess({name: each}, trial_timeout_s=5)
        expect(not paths, f"the internal server got requests for {paths}")
    return f"{len(others)} redirects as card, as answer to a call and to a task: none followed"


async def named_callees(target: Target) -> str:
    """Calls an internal server in place of a participant's name, and paths above a participant's."""
    async with internal_server(target.host) as (url, paths), assessment_with_spy(target, {"other": url}) as spied:
        paths.clear()
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
            answer = await spied.client.http.post(spied.proxy_url_to(quote(callee, safe="")), json={})
            expect(answer.status_code in {403, 404, 405}, f"the callee {callee!r}: {answer.status_code}")
        for rest in ("metrics", "%2e%2e/metrics", f"{quote(url, safe='')}", "0/../secret", "//secret"):
            answer = await spied.client.http.get(f"{spied.proxy_url_to('other')}{rest}")
            expect(answer.status_code in {403, 404, 405}, f"below a participant, {rest!r}: {answer.status_code}")
        expect(not paths, f"the internal server got requests for {paths}")
    return f"{len(callees)} names and 5 paths: 404"


async def webhooks(target: Target) -> str:
    """Sets webhooks at metadata services and at the assessor's own ports."""
    ports = {urlsplit(url).port for url in (target.gateway, target.collector)}
    urls = [*LINK_LOCAL, *(f"http://{host}:{port}/" for host in ("127.0.0.1", "[::ffff:127.0.0.1]") for port in ports)]
    async with client_of(target) as client:
        for url in urls:
            configuration = {"pushNotificationConfig": {"url": url}}
            answer = await client.called("message/send", **message("Hello"), configuration=configuration)
            expect("error" in answer, f"a webhook at {url} was accepted")
    return f"{len(urls)} addresses, each refused"


async def rebound(_: Target) -> str:
    """Names a host whose name resolves to another address the second time."""
    raise NotTriedError("it takes a name server; tests/security/test_hosts.py simulates one")


async def _expect_rejected(client: Client, url: str) -> None:
    answer = await client.assess({"planner": url}, within_s=20)
    expect(answer.state == "rejected", f"{url}: {answer.state}, {answer.text}")

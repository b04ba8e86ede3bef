"""`concord adapt`: calls of an agent to configured addresses pass the gateway, and its other requests are unchanged."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI, Request

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment.task_spec import Exchange
from concord.trust.proxy_urls import observed_peers
from concord.wire.roster import RosterEntry
from concord_cli.adapt.connection import Answer, answering
from concord_cli.adapt.proxies import IncomingProxy, OutgoingProxy
from concord_cli.adapt.trials import Trials
from concord_gateway.calls import Channels, SeatPlace, TrialChannel
from concord_gateway.proxy import Upstream
from tests.kit.collectors import NO_TLS, collector
from tests.kit.observed import SECRET, RunningGateway, TrialParticipant, running_gateway, send
from tests.kit.serving import listening, served, served_agent


@dataclass(frozen=True, slots=True)
class Adapted:
    """An adapted agent `a`: a client as its code uses it, and its trial with the agent `b`, which echoes."""

    http: httpx.AsyncClient
    proxy: OutgoingProxy
    port: int
    participant: TrialParticipant
    peer_url: str
    gateway: RunningGateway

    async def calls(self, at_least: int = 0) -> list[tuple[str, str]]:
        """The observed calls of the trial: caller and callee."""
        reports = await self.gateway.reports(self.participant.claims.trace_id, at_least)
        calls = [(each.step.additional_attributes["agent_name"], each.step.agent_call) for each in reports]
        return [(caller, call.agent_name) for caller, call in calls if call is not None]


async def echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(f"you said {message.text}")


@pytest.fixture
async def adapted(redis_url: str, tmp_path: Path) -> AsyncIterator[Adapted]:
    async with (
        running_gateway(redis_url, tmp_path) as gateway,
        collector(redis_url, token_secret=SECRET) as peers,
        served_agent(echo) as url,
        Upstream() as upstream,
        httpx.AsyncClient(timeout=60, verify=NO_TLS) as asking,
    ):
        a = (await gateway.trial({"a": "http://127.0.0.1:9/", "b": url}))["a"]
        roster = observed_peers([RosterEntry(id="b", url=url)], gateway.url)
        await gateway.storage.registry.register(a.claims.assessment_id, roster)
        assignment = a.assignment().model_copy(update={"peers_url": f"{peers.base_url}/peers"})
        trials = Trials("a", asking)
        proxy = OutgoingProxy("a", trials, upstream)
        async with (
            proxy_at_a_port(proxy.answer) as port,
            httpx.AsyncClient(timeout=60, verify=NO_TLS, proxy=proxy.url(port)) as http,
        ):
            trials.learn(httpx.Request("POST", url, json=send("message/send", metadata=assignment.metadata())).content)
            yield Adapted(http, proxy, port, a, url, gateway)


@asynccontextmanager
async def proxy_at_a_port(answer: Answer) -> AsyncIterator[int]:
    """Serves requests with `answer`; yields the port."""
    server = await asyncio.start_server(answering(answer), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_call_to_a_configured_address_is_observed(adapted: Adapted, host: str) -> None:
    url = adapted.peer_url.replace("127.0.0.1", host)
    answer = (await adapted.http.post(url, json=send("message/send"))).json()
    assert answer["result"]["status"]["state"] == "completed"
    assert await adapted.calls(1) == [("a", "b")]


async def test_cards_and_requests_to_others_pass(adapted: Adapted) -> None:
    app = FastAPI()

    @app.post("/weather")
    async def weather(request: Request) -> str:
        return f"{request.headers['x-city']}: {(await request.body()).decode()}, no token: {'proxy' in request.headers}"

    async with served(app) as url:
        answer = await adapted.http.post(f"{url}/weather?key=1", content="rain", headers={"x-city": "Bergen"})
    card = await adapted.http.get(f"{adapted.peer_url}.well-known/agent-card.json")
    assert answer.json() == "Bergen: rain, no token: False"
    assert card.json()["name"]
    assert await adapted.calls() == []


async def test_a_proxy_serves_only_its_agent(adapted: Adapted) -> None:
    async with httpx.AsyncClient(timeout=60, verify=NO_TLS, proxy=f"http://127.0.0.1:{adapted.port}") as stranger:
        answer = await stranger.post(adapted.peer_url, json=send("message/send"))
    assert answer.status_code == 407
    assert await adapted.calls() == []


async def test_calls_after_the_trial_pass_unobserved(adapted: Adapted) -> None:
    await adapted.gateway.storage.traces.close(adapted.participant.claims.trace_id)
    answer = (await adapted.http.post(adapted.peer_url, json=send("message/send"))).json()
    assert answer["result"]["status"]["state"] == "completed"
    assert await adapted.calls() == []


async def test_a_tunnel_passes_unread(adapted: Adapted) -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readexactly(5)).upper())
        writer.close()

    async with listening(shout) as shouting:
        target = shouting.removeprefix("http://").rstrip("/")
        credential = httpx.BasicAuth("a", adapted.proxy.secret)
        header = next(credential.auth_flow(httpx.Request("GET", "http://x"))).headers["authorization"]
        reader, writer = await asyncio.open_connection("127.0.0.1", adapted.port)
        head = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nProxy-Authorization: {header}\r\n\r\n"
        writer.write(head.encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.write(b"hello")
        assert await reader.read() == b"HELLO"
        writer.close()


async def test_the_card_of_an_adapted_agent_leads_to_its_proxy() -> None:
    async with served_agent(echo) as url, Upstream() as upstream, httpx.AsyncClient(timeout=60, verify=NO_TLS) as http:
        incoming = IncomingProxy(url, "http://outside:9021/", Trials("a", http), upstream)
        async with proxy_at_a_port(incoming.answer) as port:
            card = (await http.get(f"http://127.0.0.1:{port}/.well-known/agent-card.json")).text
            answer = (await http.post(f"http://127.0.0.1:{port}/", json=send("message/send"))).json()
    assert "http://outside:9021" in card
    assert url.rstrip("/") not in card
    assert answer["result"]["status"]["state"] == "completed"


async def test_an_unreachable_agent_is_answered_with_502() -> None:
    async with Upstream() as upstream, httpx.AsyncClient(timeout=60, verify=NO_TLS) as http:
        incoming = IncomingProxy("http://127.0.0.1:9", "http://outside:9021/", Trials("a", http), upstream)
        async with proxy_at_a_port(incoming.answer) as port:
            assert (await http.get(f"http://127.0.0.1:{port}/")).status_code == 502


async def test_the_gateway_knows_only_the_addresses_of_other_participants(adapted: Adapted) -> None:
    base, token = adapted.gateway.url, adapted.participant.token

    async def status(address: str, given: str = token) -> int:
        async with httpx.AsyncClient(timeout=60, verify=NO_TLS) as http:
            return (await http.get(f"{base}/a2a/{given}/-", params={"address": address})).status_code

    own, elsewhere, below = "http://127.0.0.1:9/", "http://10.1.2.3/", f"{adapted.peer_url}admin"
    assert await status(adapted.peer_url) == 200
    assert [await status(address) for address in (own, elsewhere, below, "", "::")] == [404] * 5
    assert await status(adapted.peer_url, "concord_forged") == 401
    await adapted.gateway.storage.traces.close(adapted.participant.claims.trace_id)
    async with asyncio.timeout(60):
        while await status(adapted.peer_url) != 403:
            await asyncio.sleep(0.1)


async def test_without_its_peers_an_agent_that_calls_a_configured_address_is_refused(adapted: Adapted) -> None:
    claims = adapted.participant.claims
    channels = Channels(adapted.gateway.storage.assessments, adapted.gateway.storage.registry, adapted.gateway.url)
    place = SeatPlace(entry=RosterEntry(id="a", url="http://127.0.0.1:9/"), context_id="", neighbours=())
    alone = TrialChannel(exchange=Exchange.CALLS, seats=[place], alone=True, is_open=True)
    await channels.save(claims.assessment_id, claims.trace_id, alone)
    answer = await adapted.http.post(adapted.peer_url, json=send("message/send"))
    assert (answer.status_code, answer.json()) == (404, {"detail": "no such agent in this assessment"})

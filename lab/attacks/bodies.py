"""Request bodies that are too large, inflate too far, or ask for too much."""

import asyncio
import gzip
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Final

import httpx

from lab.attacks.attack import expect
from lab.attacks.client import Client, SpiedAssessment, assessment_with_spy, client_of, honest_participant
from lab.attacks.target import Target
from tests.kit.assessing import PATTERN
from tests.kit.hostile import answering, fixed_answer
from tests.kit.serving import listening

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

JSON: Final = {"content-type": "application/json"}
TOO_MANY_BYTES: Final = 9 * 2**20
TOO_LARGE_EXPORT_BYTES: Final = 65 * 2**20
BOMB_BYTES: Final = 512 * 2**20
DEPTH: Final = 200_000
REQUESTS: Final = 24
"""Each of almost 4 MiB: together more than a participant's share of the proxy's byte budget."""

ANSWERED_S: Final = 8.0
"""The time to wait for answers (seconds): the gateway reads from a caller for a while before it refuses it."""

COSTLY_PATTERN: Final = "[!-\uffff]" * 198
"""A thousand characters, whose compilation takes a second: Python's `re` goes through all characters of each set."""

MEANWHILE_S: Final = 2.0
"""The time in which health checks are to be answered throughout (seconds)."""

SOON_S: Final = 5.0
"""The time limit of a probe while the gateway is busy (seconds)."""


def _endpoints(spied: SpiedAssessment) -> Mapping[str, Mapping[str, str]]:
    """Every URL that takes a body, with the headers that give access."""
    target = spied.client.target
    return {
        f"{target.gateway}/": {},
        spied.proxy_url_to("spy"): {},
        f"{target.collector}/traces": spied.bearer,
        f"{target.collector}/v1/traces": spied.bearer,
        f"{target.collector}/register": spied.bearer,
    }


async def too_large(target: Target) -> str:
    """Sends 9 MiB to every endpoint that takes a body (65 to that of spans), with and without a content length."""

    async def pieces(size: int) -> AsyncIterator[bytes]:
        for _ in range(size // 2**16):
            yield b" " * 2**16

    seen = set()
    async with assessment_with_spy(target) as spied:
        for url, headers in _endpoints(spied).items():
            size = TOO_LARGE_EXPORT_BYTES if url.endswith("/v1/traces") else TOO_MANY_BYTES
            for content in (b" " * size, pieces(size)):
                seen.add(status := await _status(spied, url, content, headers))
                expect(status in {401, 403, 413}, f"{size >> 20} MiB to {_redacted(spied, url)}: {status}")
    return f"refused everywhere: {sorted(seen)}"


async def bombs(target: Target) -> str:
    """Sends half a gigabyte compressed to half a megabyte: in gzip, in zstd, and in gzip twice."""
    packer = zstd.ZstdCompressor()
    mebibyte = b" " * 2**20
    inflating = {
        "gzip": gzip.compress(mebibyte * (BOMB_BYTES >> 20), 6),
        "zstd": b"".join([*(packer.compress(mebibyte) for _ in range(BOMB_BYTES >> 20)), packer.flush()]),
    }
    inflating["gzip, gzip"] = gzip.compress(inflating["gzip"])
    before = target.resident_mib()
    async with assessment_with_spy(target) as spied:
        for encoding, body in inflating.items():
            for url, headers in _endpoints(spied).items():
                typed = {**headers, "content-encoding": encoding}
                status = await _status(spied, url, body, typed)
                refused = 400 <= status < 500 or (status == 200 and not url.startswith(target.collector))
                expect(refused, f"{encoding} to {_redacted(spied, url)}: {status}")
    after = target.resident_mib()
    grown = "" if before is None or after is None else f"; the gateway has {after - before} MiB more"
    return f"{len(inflating)} bombs refused at every endpoint{grown}"


async def deep_json(target: Target) -> str:
    """Sends JSON of 200,000 levels to every endpoint that takes JSON, and as the text of a request."""
    kinds = ("[" * DEPTH, "[" * DEPTH + "]" * DEPTH, '{"a":' * DEPTH + "1" + "}" * DEPTH)
    async with assessment_with_spy(target) as spied:
        for text in kinds:
            whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": 0})
            for body in (text, whole.replace("0}", f"{text}}}")):
                for url, headers in _endpoints(spied).items():
                    status = await _status(spied, url, body.encode(), headers)
                    expect(status < 500, f"deep JSON to {_redacted(spied, url)}: {status}")
            state = (await spied.client.assess_with(text)).state
            expect(state == "rejected", f"deep JSON as a request: {state}")
    return "refused everywhere, and nothing broke"


async def many_values(target: Target) -> str:
    """Sends a million values in 2 MB, as a request and as an answer, while the gateway answers others."""
    values = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"metadata": {"x": [1] * 1_000_000}}}).encode()
    answer = answering(b"data: " + values + b"\n\n", "text/event-stream")
    async with listening(fixed_answer(answer, card=None, ends=False), target.host) as url, client_of(target) as client:
        task_id = await client.begin({"agent": url}, num_runs=1)
        sent = await client.http.post(f"{target.gateway}/", content=values, headers=JSON)
        slowest = await _slowest_answer(client)
        ended = await client.end_of(task_id)
    expect(sent.status_code == 413, f"a request of a million values: {sent.status_code}")
    expect(slowest < MEANWHILE_S, f"/healthz took {slowest:.1f} s")
    told = f"{ended.text} {json.dumps(ended.row)}"
    expect("holds more than 100000 values" in told, f"{ended.state}: {ended.text}")
    return f"both refused by name; the slowest of 40 answers of /healthz took {slowest * 1000:.0f} ms"


async def over_the_limits(target: Target) -> str:
    """Requests, in 100 kB, 1,000 patterns with 100 runs each, and a million calls and one."""
    patterns = [{"id": f"p{number}", "interaction_pattern": PATTERN} for number in range(1000)]
    wide = {"tasks": patterns, "num_runs": 100}
    edges = {"agents": ["A", "B"], "edges": [{"from": "A", "to": "B"}], "steps_count": 10_000}
    deep = {"tasks": [{"id": f"p{number}", "interaction_pattern": edges} for number in range(101)]}
    began = time.monotonic()
    async with client_of(target) as client:
        for config in (wide, deep):
            assessed = await client.assess_with(json.dumps({"config": config}))
            expect(assessed.state == "rejected", f"{assessed.state}: {assessed.text}")
    return f"both rejected in {time.monotonic() - began:.1f} s"


async def at_the_limits(target: Target) -> str:
    """Requests 1,000 trials of patterns five times at once, and checks that the gateway answers meanwhile."""
    tasks = [{"id": f"p{number}", "interaction_pattern": PATTERN} for number in range(1000)]
    text = json.dumps({"config": {"tasks": tasks}})
    async with client_of(target) as client:
        ids = [await client.begin_with(text) for _ in range(5)]
        try:
            slowest = await _slowest_answer(client)
        finally:
            for each in ids:
                await client.called("tasks/cancel", id=each)
    expect(slowest < SOON_S, f"/healthz took {slowest:.1f} s")
    return f"the slowest of 40 answers of /healthz took {slowest * 1000:.0f} ms"


async def costly_expressions(target: Target) -> str:
    """Requests, six times in 10 kB, scorers with regular expressions that take seconds to compile."""
    scorers = [{"name": "pattern", "pattern": f"(?i){COSTLY_PATTERN}{number}"} for number in range(8)]
    tasks = [{"id": f"t{number}", "text": "Say something.", "scorer": each} for number, each in enumerate(scorers)]
    costly = json.dumps({"participants": {"a": "http://192.0.2.1/"}, "config": {"tasks": tasks}}, ensure_ascii=False)
    async with client_of(target) as client:
        ids = [await client.begin_with(costly) for _ in range(6)]
        slowest = await _slowest_answer(client)
        unreadable = await client.assess_with("{}")
        ends = [await client.end_of(each) for each in ids]
    expect(slowest < SOON_S, f"/healthz took {slowest:.1f} s")
    expect(unreadable.state == "rejected", f"another's request meanwhile: {unreadable.state}")
    texts = {each.text for each in ends}
    expect(all("CPU time" in text for text in texts), f"not refused for their cost: {texts}")
    return f"all refused for their CPU time; the slowest of 40 answers of /healthz took {slowest * 1000:.0f} ms"


async def stalled_requests(target: Target) -> str:
    """Begins 24 calls of almost 4 MiB and never ends them, while another participant makes a call."""
    length = 4 * 2**20 - 1
    async with (
        honest_participant(target) as friend,
        assessment_with_spy(target, {"friend": friend}) as flooding,
        assessment_with_spy(target, {"friend": friend}) as other,
        AsyncExitStack() as exits,
    ):
        readers = [
            await exits.enter_async_context(_unfinished_request(flooding.proxy_url_to("friend"), length))
            for _ in range(REQUESTS)
        ]
        lines = [asyncio.create_task(reader.readline()) for reader in readers]
        answer = await other.call("friend")
        done, waiting = await asyncio.wait(lines, timeout=ANSWERED_S)
        for each in waiting:
            each.cancel()
    refused = sum(b" 429 " in each.result() for each in done)
    expect(refused > 0, f"{len(waiting)} of {REQUESTS} are waited for, and none refused")
    expect(answer.status_code == 200, f"another's call meanwhile: {answer.status_code}")
    return f"{refused} of {REQUESTS} refused with 429; another's call was answered"


async def _slowest_answer(client: Client) -> float:
    """The longest of 40 answers of the gateway within four seconds (seconds)."""
    slowest = 0.0
    for _ in range(40):
        began = time.monotonic()
        status = (await client.http.get(f"{client.target.gateway}/healthz")).status_code
        slowest = max(slowest, time.monotonic() - began)
        expect(status == 200, f"/healthz: {status}")
        await asyncio.sleep(0.1)
    return slowest


@asynccontextmanager
async def _unfinished_request(url: str, length: int) -> AsyncIterator[asyncio.StreamReader]:
    """A request that lacks its last byte; yields a reader of its answer."""
    place = httpx.URL(url)
    reader, writer = await asyncio.open_connection(place.host, place.port)
    head = f"POST {place.path} HTTP/1.1\r\nhost: {place.host}\r\ncontent-length: {length}\r\n\r\n"
    writer.write(head.encode() + b" " * (length - 1))
    try:
        with suppress(ConnectionError):
            await writer.drain()
        yield reader
    finally:
        writer.close()


async def _status(
    spied: SpiedAssessment, url: str, content: bytes | AsyncIterator[bytes], headers: Mapping[str, str]
) -> int:
    """The status of an answer; 413 if the connection is closed while the body is being sent."""
    try:
        return (await spied.client.http.post(url, content=content, headers={**JSON, **headers})).status_code
    except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
        return 413


def _redacted(spied: SpiedAssessment, url: str) -> str:
    return url.replace(spied.spy.token, "TOKEN")

"""Connections that send no request."""

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from typing import Final

import httpx

from concord.service.connections import claim_descriptors
from lab.attacks.attack import expect
from lab.attacks.target import Target

MOST: Final = 6_000
"""More than a server takes that may open 20,000 files."""

BEGINNINGS: Final = (b"", b"POST / HT", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{")
ENDED_WITHIN_S: Final = 30.0
SOON_S: Final = 2.0


async def silent(target: Target) -> str:
    """Opens thousands of connections to the gateway, and sends nothing, half a head or half a body over each."""
    place, many = httpx.URL(target.gateway), min(MOST, claim_descriptors() - 256)
    opened: list[asyncio.StreamReader] = []
    async with AsyncExitStack() as exits, httpx.AsyncClient(timeout=30) as http:
        for number in range(many):
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(place.host, place.port)
                exits.callback(writer.close)
                writer.write(BEGINNINGS[number % len(BEGINNINGS)])
                opened.append(reader)
        began = time.monotonic()
        status = (await http.get(f"{target.gateway}/healthz")).status_code
        answered_s = time.monotonic() - began
        expect(status == 200 and answered_s < SOON_S, f"/healthz meanwhile: {status} after {answered_s:.1f} s")
        ends = [asyncio.create_task(_ended(each)) for each in opened]
        _, open_ones = await asyncio.wait(ends, timeout=ENDED_WITHIN_S)
        for each in open_ones:
            each.cancel()
    expect(not open_ones, f"{len(open_ones)} of {len(opened)} are open after {ENDED_WITHIN_S:.0f} s")
    return f"/healthz answered beside {len(opened)} of them after {answered_s * 1000:.0f} ms; all were ended"


async def _ended(reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        await reader.read()

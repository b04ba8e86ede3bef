"""Posts to webhooks: once, to the address that was checked, and without reading the answer's body."""

import asyncio
from collections.abc import Mapping

import httpx

from concord.trust.urls import PinnedUrl


async def post_once(
    http: httpx.AsyncClient, url: PinnedUrl, body: bytes, headers: Mapping[str, str], *, timeout_s: float
) -> int:
    """Posts a body. Returns the status of the answer. Raises httpx.HTTPError, OSError, TimeoutError.

    `http` must follow no redirect, and keep no connection for another receiver: it would find it by its address,
    although TLS was for one host.
    """
    request = url.exact_request()
    sent = {**request.pop("headers"), **headers}
    async with asyncio.timeout(timeout_s):
        # The body of the answer may be endless, so it is not read.
        async with http.stream("POST", **request, headers=sent, content=body) as response:
            return response.status_code

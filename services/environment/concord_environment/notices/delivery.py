"""Delivery of notices to webhooks: signed, to checked addresses only, without reading the response body."""

import hmac
import json
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from time import perf_counter
from typing import Final, Literal

import httpx

from concord.trust.urls import PeerUrls, UrlRefusedError
from concord.webhook_post import post_once
from concord_environment.notices.bus import Notice

TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """One notice to one webhook, and its outcome."""

    id: str
    webhook_id: str
    event_type: str
    status: Literal["delivered", "failed"]
    attempt_count: int
    created_at: datetime
    delivered_at: datetime | None = None
    response_status: int | None = None
    response_time_ms: float | None = None
    error_message: str | None = None


class WebhookSender:
    """Posts notices to URLs. Resolves the host before each post, and posts only to permitted addresses."""

    def __init__(self, urls: PeerUrls, http: httpx.AsyncClient) -> None:
        self._urls = urls
        self._http = http

    async def send(self, url: str, secret: str | None, webhook_id: str, notice: Notice, attempt: int) -> Delivery:
        """Posts a notice once. A refused URL or a failed request gives a failed delivery."""
        created = datetime.now(UTC)
        tried = Delivery(f"del_{secrets.token_hex(8)}", webhook_id, notice.type, "failed", attempt, created)
        body = _body(tried, notice)
        headers = {"content-type": "application/json"}
        if secret is not None:
            headers["x-ues-signature"] = f"sha256={hmac.new(secret.encode(), body, sha256).hexdigest()}"
        begun = perf_counter()
        try:
            status = await post_once(self._http, await self._urls.pin(url), body, headers, timeout_s=TIMEOUT_S)
        except UrlRefusedError as error:
            return replace(tried, error_message=str(error))
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError) as error:
            return replace(tried, error_message=type(error).__name__)
        took = round((perf_counter() - begun) * 1_000, 3)
        done = replace(tried, response_status=status, response_time_ms=took)
        if 200 <= status < 300:
            return replace(done, status="delivered", delivered_at=datetime.now(UTC))
        return replace(done, error_message=f"HTTP {status}")


def _body(delivery: Delivery, notice: Notice) -> bytes:
    return json.dumps(
        {
            "id": delivery.id,
            "webhook_id": delivery.webhook_id,
            "event_type": notice.type,
            "timestamp": notice.timestamp.isoformat(),
            "data": notice.data,
        }
    ).encode()

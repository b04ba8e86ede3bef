"""Webhooks: notices as POSTs to whoever registered, signed, tried again, and given up on after ten failures."""

import asyncio
import hmac
import json
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from time import perf_counter
from typing import Any, Final, Literal

import httpx

from concord_environment.core.faults import Conflict, NotThere
from concord_environment.notices.bus import Bus, Notice, wanted

MAX_WEBHOOKS: Final = 100
MAX_FAILURES: Final = 10
TRIES: Final = 3
BACKOFF_S: Final = 0.2
TIMEOUT_S: Final = 5.0
KEPT_DELIVERIES: Final = 200

WebhookStatus = Literal["active", "paused", "disabled"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One notice to one webhook, and how it went."""

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


@dataclass(frozen=True, slots=True)
class Webhook:
    """Somebody's wish to be told."""

    id: str
    url: str
    events: tuple[str, ...] | None
    created_at: datetime
    updated_at: datetime
    secret: str | None = field(default=None, repr=False)
    metadata: dict[str, Any] = field(default_factory=dict)
    status: WebhookStatus = "active"
    failure_count: int = 0
    last_delivery_at: datetime | None = None
    last_failure_at: datetime | None = None


class Webhooks:
    """The webhooks of one process, and one task that delivers to all of them."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._hooks: dict[str, Webhook] = {}
        self._deliveries: dict[str, deque[Delivery]] = {}
        self._transport = transport

    def all(self) -> list[Webhook]:
        """Every webhook, in the order of registration."""
        return list(self._hooks.values())

    def get(self, webhook_id: str) -> Webhook:
        """The webhook with this id, or NotThere."""
        hook = self._hooks.get(webhook_id)
        if hook is None:
            raise NotThere(f"there is no webhook {webhook_id}")
        return hook

    def register(
        self, url: str, events: Sequence[str] | None, secret: str | None, metadata: dict[str, Any], now: datetime
    ) -> Webhook:
        """A new webhook."""
        if len(self._hooks) >= MAX_WEBHOOKS:
            raise Conflict(f"there are {MAX_WEBHOOKS} webhooks already")
        patterns = None if events is None else tuple(events)
        return self._keep(Webhook(f"wh_{secrets.token_hex(8)}", url, patterns, now, now, secret, metadata))

    def change(self, webhook_id: str, now: datetime, **changes: Any) -> Webhook:  # noqa: ANN401 - fields of Webhook
        """The webhook with changes. Made active again, it starts without failures."""
        if changes.get("status") == "active":
            changes["failure_count"] = 0
        return self._keep(replace(self.get(webhook_id), **changes, updated_at=now))

    def remove(self, webhook_id: str) -> None:
        """Ends a webhook."""
        self.get(webhook_id)
        del self._hooks[webhook_id]
        self._deliveries.pop(webhook_id, None)

    def deliveries(self, webhook_id: str) -> list[Delivery]:
        """The latest deliveries, latest first."""
        self.get(webhook_id)
        return list(reversed(self._deliveries.get(webhook_id, ())))

    async def deliver_from(self, bus: Bus) -> None:
        """Delivers what the bus publishes, until cancelled."""
        with bus.subscribe() as subscription:
            async with self._client() as http:
                while True:
                    notice = await subscription.next()
                    due = [
                        hook
                        for hook in self._hooks.values()
                        if hook.status == "active" and wanted(hook.events, notice.type)
                    ]
                    await asyncio.gather(*(self._deliver(http, hook, notice) for hook in due))

    async def test(self, webhook_id: str, now: datetime) -> Delivery:
        """Sends a test notice, once."""
        hook = self.get(webhook_id)
        async with self._client() as http:
            return await self._attempt(http, hook, Notice("webhook.test", {"webhook_id": hook.id}, now), 1)

    def _client(self) -> httpx.AsyncClient:
        # Redirects are not followed: who registers a URL is told there or not at all.
        return httpx.AsyncClient(timeout=TIMEOUT_S, transport=self._transport, follow_redirects=False)

    async def _deliver(self, http: httpx.AsyncClient, hook: Webhook, notice: Notice) -> None:
        for attempt in range(1, TRIES + 1):
            delivery = await self._attempt(http, hook, notice, attempt)
            if delivery.status == "delivered":
                break
            await asyncio.sleep(BACKOFF_S * 2**attempt if attempt < TRIES else 0)
        if hook.id in self._hooks:
            self._note(self._hooks[hook.id], delivery)

    def _note(self, hook: Webhook, delivery: Delivery) -> None:
        self._deliveries.setdefault(hook.id, deque(maxlen=KEPT_DELIVERIES)).append(delivery)
        if delivery.status == "delivered":
            self._keep(replace(hook, failure_count=0, last_delivery_at=delivery.delivered_at))
            return
        failures = hook.failure_count + 1
        status: WebhookStatus = "disabled" if failures >= MAX_FAILURES else hook.status
        self._keep(replace(hook, failure_count=failures, status=status, last_failure_at=delivery.created_at))

    async def _attempt(self, http: httpx.AsyncClient, hook: Webhook, notice: Notice, attempt: int) -> Delivery:
        delivery = Delivery(f"del_{secrets.token_hex(8)}", hook.id, notice.type, "failed", attempt, datetime.now(UTC))
        body = json.dumps(
            {
                "id": delivery.id,
                "webhook_id": hook.id,
                "event_type": notice.type,
                "timestamp": notice.timestamp.isoformat(),
                "data": notice.data,
            }
        ).encode()
        headers = {"content-type": "application/json"}
        if hook.secret is not None:
            digest = hmac.new(hook.secret.encode(), body, sha256).hexdigest()
            headers["x-ues-signature"] = f"sha256={digest}"
        begun = perf_counter()
        try:
            response = await http.post(hook.url, content=body, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return replace(delivery, error_message=type(error).__name__)
        took = round((perf_counter() - begun) * 1_000, 3)
        done = replace(delivery, response_status=response.status_code, response_time_ms=took)
        if response.is_success:
            return replace(done, status="delivered", delivered_at=datetime.now(UTC))
        return replace(done, error_message=f"HTTP {response.status_code}")

    def _keep(self, hook: Webhook) -> Webhook:
        self._hooks[hook.id] = hook
        return hook

"""Webhooks: registration and delivery, with retries. Repeated failures disable a webhook."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

import httpx

from concord.restarts import pause_s
from concord.trust.urls import PeerUrls, UrlRefusedError
from concord_environment.core.faults import Conflict, Invalid, NotCommitted, NotFound
from concord_environment.core.write_set import WriteSet
from concord_environment.notices.bus import Bus, Notice, Subscription, matches
from concord_environment.notices.delivery import TIMEOUT_S, Delivery, WebhookSender

WEBHOOKS: Final = "webhooks"
"""The name of the table of webhooks in a write set."""

MAX_WEBHOOKS: Final = 100
MAX_FAILURES: Final = 10
TRIES: Final = 3
FIRST_PAUSE_S: Final = 0.4
MAX_DELIVERIES: Final = 200

WebhookStatus = Literal["active", "paused", "disabled"]


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that receives notices."""

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
    """The webhooks of one process and their delivery. `urls` decides which URLs they may have."""

    def __init__(self, urls: PeerUrls, hooks: Sequence[Webhook] = ()) -> None:
        self._urls = urls
        self._hooks = {hook.id: hook for hook in hooks}
        self.write_set: WriteSet | None = None
        """Collects the ids of webhooks that a call registered, changed or deleted, if set."""
        self._deliveries: dict[str, deque[Delivery]] = {}
        self._subscription: Subscription | None = None

    def all(self) -> list[Webhook]:
        """Every webhook, in the order of registration."""
        return list(self._hooks.values())

    def get(self, webhook_id: str) -> Webhook:
        """The webhook with this id. Raises NotFound."""
        hook = self._hooks.get(webhook_id)
        if hook is None:
            raise NotFound(f"there is no webhook {webhook_id}")
        return hook

    async def register(
        self, url: str, events: Sequence[str] | None, secret: str | None, metadata: dict[str, Any], now: datetime
    ) -> Webhook:
        """A new webhook. Raises Invalid for a URL outside the permitted networks, Conflict if there are too many."""
        await self._check(url)
        if len(self._hooks) >= MAX_WEBHOOKS:
            raise Conflict(f"there are {MAX_WEBHOOKS} webhooks already")
        patterns = None if events is None else tuple(events)
        return self._record_change(Webhook(f"wh_{secrets.token_hex(8)}", url, patterns, now, now, secret, metadata))

    async def change(self, webhook_id: str, now: datetime, **changes: Any) -> Webhook:  # noqa: ANN401 - fields of Webhook
        """Changes a webhook. Reactivating it resets its failure count. Raises NotFound, or Invalid like `register`."""
        if "url" in changes:
            await self._check(changes["url"])
        if changes.get("status") == "active":
            changes["failure_count"] = 0
        return self._record_change(replace(self.get(webhook_id), **changes, updated_at=now))

    def remove(self, webhook_id: str) -> None:
        """Deletes a webhook. Raises NotFound."""
        self.get(webhook_id)
        del self._hooks[webhook_id]
        self._deliveries.pop(webhook_id, None)
        self._add_to_write_set(webhook_id)
        self._update_patterns()

    def deliveries(self, webhook_id: str) -> list[Delivery]:
        """The latest deliveries, latest first. Raises NotFound."""
        self.get(webhook_id)
        return list(reversed(self._deliveries.get(webhook_id, ())))

    async def deliver_from(self, bus: Bus) -> None:
        """Delivers the bus's notices until cancelled, or until changes can no longer be committed."""
        with bus.subscribe() as subscription:
            self._subscription = subscription
            self._update_patterns()
            async with self._sender() as sender:
                while True:
                    try:
                        notice = await subscription.next()
                    except NotCommitted:
                        return
                    due = [
                        hook
                        for hook in self._hooks.values()
                        if hook.status == "active" and matches(hook.events, notice.type)
                    ]
                    await asyncio.gather(*(self._deliver(sender, hook, notice) for hook in due))

    async def test(self, webhook_id: str, now: datetime) -> Delivery:
        """Sends one test notice. Raises NotFound."""
        hook = self.get(webhook_id)
        notice = Notice("webhook.test", {"webhook_id": hook.id}, now)
        async with self._sender() as sender:
            return await sender.send(hook.url, hook.secret, hook.id, notice, 1)

    @asynccontextmanager
    async def _sender(self) -> AsyncIterator[WebhookSender]:
        # Redirects and proxies would lead to unchecked addresses, and receivers must share no connection.
        limits = httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False, limits=limits) as http:
            yield WebhookSender(self._urls, http)

    async def _check(self, url: str) -> None:
        try:
            await self._urls.pin(url)
        except UrlRefusedError as error:
            raise Invalid(f"url: {error}") from error

    def _update_patterns(self) -> None:
        """Subscribes to the notices that the active webhooks select."""
        if self._subscription is not None:
            active = [hook.events for hook in self._hooks.values() if hook.status == "active"]
            everything = any(events is None for events in active)
            self._subscription.patterns = None if everything else [one for events in active for one in events or ()]

    async def _deliver(self, sender: WebhookSender, hook: Webhook, notice: Notice) -> None:
        for attempt in range(1, TRIES + 1):
            delivery = await sender.send(hook.url, hook.secret, hook.id, notice, attempt)
            if delivery.status == "delivered":
                break
            await asyncio.sleep(pause_s(attempt, FIRST_PAUSE_S) if attempt < TRIES else 0)
        if hook.id in self._hooks:
            self._record_outcome(self._hooks[hook.id], delivery)

    def _record_outcome(self, hook: Webhook, delivery: Delivery) -> None:
        self._deliveries.setdefault(hook.id, deque(maxlen=MAX_DELIVERIES)).append(delivery)
        if delivery.status == "delivered":
            self._store(replace(hook, failure_count=0, last_delivery_at=delivery.delivered_at))
            return
        failures = hook.failure_count + 1
        status: WebhookStatus = "disabled" if failures >= MAX_FAILURES else hook.status
        self._store(replace(hook, failure_count=failures, status=status, last_failure_at=delivery.created_at))

    def _record_change(self, hook: Webhook) -> Webhook:
        # Only calls enter the write set. A delivery's outcome does not: every event would then write its webhooks.
        self._add_to_write_set(hook.id)
        return self._store(hook)

    def _add_to_write_set(self, webhook_id: str) -> None:
        if self.write_set is not None:
            self.write_set.add(WEBHOOKS, webhook_id)

    def _store(self, hook: Webhook) -> Webhook:
        self._hooks[hook.id] = hook
        self._update_patterns()
        return hook

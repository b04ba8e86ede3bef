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

from concord.trust.urls import PeerUrls, UrlRefusedError
from concord_environment.core.faults import Conflict, Invalid, NotKept, NotThere
from concord_environment.core.touched import Touched
from concord_environment.notices.bus import Bus, Notice, Subscription, matches
from concord_environment.notices.posting import TIMEOUT_S, Delivery, Poster

WEBHOOKS: Final = "webhooks"
"""Under which name touched webhooks are noted."""

MAX_WEBHOOKS: Final = 100
MAX_FAILURES: Final = 10
TRIES: Final = 3
BACKOFF_S: Final = 0.2
KEPT_DELIVERIES: Final = 200

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
        self.touched: Touched | None = None
        """Where the ids of webhooks that somebody registered, changed or ended are noted, if somebody asks."""
        self._deliveries: dict[str, deque[Delivery]] = {}
        self._subscription: Subscription | None = None

    def all(self) -> list[Webhook]:
        """Every webhook, in the order of registration."""
        return list(self._hooks.values())

    def get(self, webhook_id: str) -> Webhook:
        """The webhook with this id. Raises NotThere."""
        hook = self._hooks.get(webhook_id)
        if hook is None:
            raise NotThere(f"there is no webhook {webhook_id}")
        return hook

    async def register(
        self, url: str, events: Sequence[str] | None, secret: str | None, metadata: dict[str, Any], now: datetime
    ) -> Webhook:
        """A new webhook. Raises Invalid for a URL outside the permitted networks, Conflict if there are too many."""
        await self._check(url)
        if len(self._hooks) >= MAX_WEBHOOKS:
            raise Conflict(f"there are {MAX_WEBHOOKS} webhooks already")
        patterns = None if events is None else tuple(events)
        return self._told(Webhook(f"wh_{secrets.token_hex(8)}", url, patterns, now, now, secret, metadata))

    async def change(self, webhook_id: str, now: datetime, **changes: Any) -> Webhook:  # noqa: ANN401 - fields of Webhook
        """Changes a webhook. Reactivating it resets its failure count."""
        if "url" in changes:
            await self._check(changes["url"])
        if changes.get("status") == "active":
            changes["failure_count"] = 0
        return self._told(replace(self.get(webhook_id), **changes, updated_at=now))

    def remove(self, webhook_id: str) -> None:
        """Deletes a webhook."""
        self.get(webhook_id)
        del self._hooks[webhook_id]
        self._deliveries.pop(webhook_id, None)
        self._touch(webhook_id)
        self._listen()

    def deliveries(self, webhook_id: str) -> list[Delivery]:
        """The latest deliveries, latest first."""
        self.get(webhook_id)
        return list(reversed(self._deliveries.get(webhook_id, ())))

    async def deliver_from(self, bus: Bus) -> None:
        """Delivers the bus's notices until cancelled, or until changes can no longer be kept."""
        with bus.subscribe() as subscription:
            self._subscription = subscription
            self._listen()
            async with self._poster() as poster:
                while True:
                    try:
                        notice = await subscription.next()
                    except NotKept:
                        return
                    due = [
                        hook
                        for hook in self._hooks.values()
                        if hook.status == "active" and matches(hook.events, notice.type)
                    ]
                    await asyncio.gather(*(self._deliver(poster, hook, notice) for hook in due))

    async def test(self, webhook_id: str, now: datetime) -> Delivery:
        """Sends one test notice."""
        hook = self.get(webhook_id)
        notice = Notice("webhook.test", {"webhook_id": hook.id}, now)
        async with self._poster() as poster:
            return await poster.post(hook.url, hook.secret, hook.id, notice, 1)

    @asynccontextmanager
    async def _poster(self) -> AsyncIterator[Poster]:
        # Redirects and proxies would lead to addresses that nobody checked.
        async with httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False) as http:
            yield Poster(self._urls, http)

    async def _check(self, url: str) -> None:
        try:
            await self._urls.pin(url)
        except UrlRefusedError as error:
            raise Invalid(f"url: {error}") from error

    def _listen(self) -> None:
        """Subscribes to the notices that an active webhook wants."""
        if self._subscription is not None:
            active = [hook.events for hook in self._hooks.values() if hook.status == "active"]
            everything = any(events is None for events in active)
            self._subscription.patterns = None if everything else [one for events in active for one in events or ()]

    async def _deliver(self, poster: Poster, hook: Webhook, notice: Notice) -> None:
        for attempt in range(1, TRIES + 1):
            delivery = await poster.post(hook.url, hook.secret, hook.id, notice, attempt)
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

    def _told(self, hook: Webhook) -> Webhook:
        # What somebody asks for is noted; how deliveries go is not, for that would be noted with every event.
        self._touch(hook.id)
        return self._keep(hook)

    def _touch(self, webhook_id: str) -> None:
        if self.touched is not None:
            self.touched.note(WEBHOOKS, webhook_id)

    def _keep(self, hook: Webhook) -> Webhook:
        self._hooks[hook.id] = hook
        self._listen()
        return hook

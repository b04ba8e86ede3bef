"""Push notifications: a client's webhooks, and the posting of a task's changes to them."""

import asyncio
import json
import logging
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import httpx
from a2a.compat.v0_3.conversions import to_compat_task
from a2a.server.context import ServerCallContext
from a2a.server.tasks import PushNotificationConfigStore, PushNotificationSender
from a2a.server.tasks.push_notification_sender import PushNotificationEvent
from a2a.types import a2a_pb2 as pb
from a2a.utils.constants import A2A_JSON_MEDIA_TYPE, VERSION_HEADER
from a2a.utils.errors import InvalidParamsError
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict, ParseDict

from concord.a2a.http import http_client
from concord.a2a.task_store import task_of
from concord.errors import StorageUnavailableError
from concord.task_records import TaskRecords, TooManyWebhooksError, WebhookRecords
from concord.trust.urls import NoAddressError, PinnedUrl, UrlRefusedError, check_form
from concord.webhook_post import post_once

# The webhooks of tasks: which configs of clients are accepted, and what is stored of them.

Pin = Callable[[str], Awaitable[PinnedUrl]]
"""Resolves a webhook's URL to the address to connect to. Raises UrlRefusedError."""

_MAX_ID: Final = 128
_MAX_SECRET: Final = 4096
"""Limits on an id, and on a token or credentials (characters)."""

_SCHEME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
"""An authentication scheme: a token of HTTP."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook of a task. `whole_tasks`: it gets the whole task after each change, as in A2A 0.3; otherwise it gets
    each event."""

    webhook_id: str
    url: str
    headers: tuple[tuple[str, str], ...]
    whole_tasks: bool


class Webhooks(PushNotificationConfigStore):
    """The SDK's store of push notification configs, on top of storage.

    Storage has the secrets of a webhook, because every process of the agent may have to send them. No answer contains
    them.
    """

    def __init__(self, records: WebhookRecords, pin: Pin) -> None:
        self._records = records
        self.pin = pin

    async def check(self, config: pb.TaskPushNotificationConfig) -> None:
        """Raises InvalidParamsError with the reason if no notification may be sent to a config's URL.

        A host without an address passes, because it may have an address when a notification is sent.
        """
        try:
            check_form(config.url)
            with suppress(NoAddressError):
                await self.pin(config.url)
        except UrlRefusedError as error:
            raise InvalidParamsError(f"the webhook's URL is refused: {error}") from error
        if len(config.id) > _MAX_ID:
            raise InvalidParamsError(f"the webhook's id is longer than {_MAX_ID} characters")
        authentication = config.authentication
        for name, secret in (("token", config.token), ("credentials", authentication.credentials)):
            if len(secret) > _MAX_SECRET or not (secret.isascii() and secret.isprintable()):
                raise InvalidParamsError(f"the webhook's {name} cannot be sent in a header")
        if authentication.scheme and _SCHEME.fullmatch(authentication.scheme) is None:
            raise InvalidParamsError("the webhook's authentication scheme cannot be sent in a header")

    async def set_info(
        self, task_id: str, notification_config: pb.TaskPushNotificationConfig, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """See `PushNotificationConfigStore.set_info`. Raises InvalidParamsError, StorageUnavailableError."""
        await self.check(notification_config)
        config = pb.TaskPushNotificationConfig()
        config.CopyFrom(notification_config)
        config.task_id = task_id
        config.id = config.id or task_id
        # A client of 1.0 says so in this header; clients of 0.3 send none, or say 0.3.
        version = context.state.get("headers", {}).get(VERSION_HEADER.lower(), "").strip() or "0.3"
        stored = {"whole_tasks": version.startswith("0."), "config": MessageToDict(config)}
        try:
            await self._records.save(task_id, config.id, json.dumps(stored).encode())
        except TooManyWebhooksError as error:
            raise InvalidParamsError(str(error)) from error
        return _without_secrets(config)

    async def get_info(
        self,
        task_id: str,
        context: ServerCallContext,  # noqa: ARG002 - the SDK has checked that the caller owns the task
    ) -> list[pb.TaskPushNotificationConfig]:
        """See `PushNotificationConfigStore.get_info`. Raises StorageUnavailableError."""
        return [_without_secrets(_config(stored)) for stored in await self._records.all(task_id)]

    async def delete_info(
        self,
        task_id: str,
        context: ServerCallContext,  # noqa: ARG002 - the SDK has checked that the caller owns the task
        config_id: str | None = None,
    ) -> None:
        """See `PushNotificationConfigStore.delete_info`. Raises StorageUnavailableError."""
        await self._records.delete(task_id, config_id or task_id)

    async def of(self, task_id: str) -> list[Webhook]:
        """The webhooks of a task, with their secrets. Raises StorageUnavailableError."""
        return [_webhook(stored) for stored in await self._records.all(task_id)]

    async def one(self, task_id: str, webhook_id: str) -> Webhook | None:
        """A webhook with its secrets, or None if it was deleted. Raises StorageUnavailableError."""
        return next((each for each in await self.of(task_id) if each.webhook_id == webhook_id), None)

    async def remove(self, task_id: str, webhook_id: str) -> None:
        """Deletes a webhook that no longer exists. Raises StorageUnavailableError."""
        await self._records.delete(task_id, webhook_id)


def _config(stored: bytes) -> pb.TaskPushNotificationConfig:
    return ParseDict(json.loads(stored)["config"], pb.TaskPushNotificationConfig())


def _webhook(stored: bytes) -> Webhook:
    config, authentication = _config(stored), _config(stored).authentication
    headers: list[tuple[str, str]] = []
    if config.token:
        headers.append(("x-a2a-notification-token", config.token))
    if authentication.scheme and authentication.credentials:
        headers.append(("authorization", f"{authentication.scheme} {authentication.credentials}"))
    return Webhook(config.id, config.url, tuple(headers), json.loads(stored)["whole_tasks"])


def _without_secrets(config: pb.TaskPushNotificationConfig) -> pb.TaskPushNotificationConfig:
    shown = pb.TaskPushNotificationConfig()
    shown.CopyFrom(config)
    shown.ClearField("token")
    if shown.HasField("authentication"):
        shown.authentication.ClearField("credentials")
    return shown


# Posts the changes of tasks to their webhooks, without delaying the tasks.

logger = logging.getLogger(__name__)

MAX_WAITING: Final = 16
"""Limit on the notifications that wait for one webhook. Beyond the limit, the oldest notification is dropped."""

MAX_OUTBOXES: Final = 1000
"""Limit on the webhooks that get notifications at one time. Further webhooks get none."""

_AT_ONCE: Final = 32
"""Requests to webhooks at one time."""

_PROGRESS: Final = frozenset({pb.TaskState.TASK_STATE_SUBMITTED, pb.TaskState.TASK_STATE_WORKING})
_TRANSIENT: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
"""Statuses below 500 after which a request is repeated."""


@dataclass(frozen=True, slots=True)
class Retries:
    """The policy for repeated requests: a pause after each failure (seconds). A request takes at most `timeout_s`.

    A stopping process tries to deliver for `closing_s`.
    """

    pauses_s: tuple[float, ...] = (1, 2, 4, 8, 16)
    timeout_s: float = 10
    closing_s: float = 3


class _FinalError(Exception):
    """Repeating a request would not help; the text says why."""


class _GoneError(_FinalError):
    """The webhook says that it no longer exists."""


@dataclass(frozen=True, slots=True)
class _Notification:
    """A body to post; None: the whole task in its state at the time of sending. `progress`: a later notification
    replaces this one."""

    body: bytes | None
    progress: bool


@dataclass(eq=False)
class _Outbox:
    """The notifications that wait for one webhook of one task."""

    task_id: str
    webhook_id: str
    waiting: deque[_Notification] = field(default_factory=lambda: deque(maxlen=MAX_WAITING))
    added: asyncio.Event = field(default_factory=asyncio.Event)

    async def has_newer(self, wait_s: float) -> bool:
        """Whether a notification waits, or is added within that time."""
        self.added.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if self.waiting else wait_s):
                await self.added.wait()
        return bool(self.waiting)

    def add(self, notification: _Notification) -> None:
        last = self.waiting[-1] if self.waiting else None
        if last is not None and ((last.progress and notification.progress) or last.body is None):
            self.waiting.pop()
        self.waiting.append(notification)
        self.added.set()


class Notifications(PushNotificationSender):
    """The SDK's sender of push notifications: in order for each webhook, repeated after transient faults.

    The process that works on a task notifies its webhooks. A notification is lost if all attempts fail, or if the
    process ends before.
    """

    def __init__(self, webhooks: Webhooks, tasks: TaskRecords, retries: Retries = Retries()) -> None:
        self._webhooks = webhooks
        self._tasks = tasks
        self._retries = retries
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._outboxes: dict[tuple[str, str], _Outbox] = {}
        self._deliveries: set[asyncio.Task[None]] = set()

    async def send_notification(self, task_id: str, event: PushNotificationEvent) -> None:
        """Queues a change of a task for its webhooks; returns before it is delivered."""
        try:
            webhooks = await self._webhooks.of(task_id)
        except StorageUnavailableError as error:
            logger.warning("a change of task %s reaches no webhook: %s", task_id, error)
            return
        if webhooks:
            body = await asyncio.to_thread(_event_body, event)
            progress = not isinstance(event, pb.TaskArtifactUpdateEvent) and event.status.state in _PROGRESS
            self._queue(task_id, webhooks, body, progress=progress)

    async def aclose(self) -> None:
        """Waits a short time for the notifications under way, and drops the others."""
        if self._deliveries:
            await asyncio.wait(self._deliveries, timeout=self._retries.closing_s)
        for delivery in self._deliveries:
            delivery.cancel()
        await asyncio.gather(*self._deliveries, return_exceptions=True)

    def _queue(self, task_id: str, webhooks: Iterable[Webhook], body: bytes, *, progress: bool) -> None:
        for webhook in webhooks:
            key = (task_id, webhook.webhook_id)
            if (outbox := self._outboxes.get(key)) is None:
                if len(self._outboxes) >= MAX_OUTBOXES:
                    logger.warning("a change of task %s reaches no webhook: too many others are waiting", task_id)
                    return
                outbox = self._outboxes[key] = _Outbox(task_id, webhook.webhook_id)
                delivery = asyncio.create_task(self._deliver_all(key, outbox))
                self._deliveries.add(delivery)
                delivery.add_done_callback(self._deliveries.discard)
            outbox.add(_Notification(None if webhook.whole_tasks else body, progress))

    async def _deliver_all(self, key: tuple[str, str], outbox: _Outbox) -> None:
        # A client of its own: a pooled connection would be found by address, although TLS was for another host.
        try:
            async with http_client(httpx.Timeout(self._retries.timeout_s)) as http:
                http.event_hooks = {}  # they check bodies, and no body is read
                while outbox.waiting:
                    await self._deliver(http, outbox, outbox.waiting.popleft())
                # Immediate: a notification that arrives while the client is being closed needs another outbox.
                del self._outboxes[key]
        except _GoneError:
            with suppress(StorageUnavailableError):
                await self._webhooks.remove(*key)
        except Exception:
            logger.exception("the notifications of task %s are dropped", outbox.task_id)
        finally:
            if self._outboxes.get(key) is outbox:
                del self._outboxes[key]

    async def _deliver(self, http: httpx.AsyncClient, outbox: _Outbox, notification: _Notification) -> None:
        """Delivers or drops one notification. Raises _GoneError."""
        reason = ""
        for pause_s in (*self._retries.pauses_s, None):
            try:
                # Read for each attempt, because the client may delete or change it meanwhile.
                if (webhook := await self._webhooks.one(outbox.task_id, outbox.webhook_id)) is None:
                    return
                body = notification.body or await self._whole_task(outbox.task_id)
                async with self._at_once:
                    await self._post(http, webhook, body)
                return
            except _FinalError as error:
                # Neither the URL nor a library's text is logged, because both may contain a secret.
                logger.warning("task %s: a notification is dropped: %s", outbox.task_id, error)
                if isinstance(error, _GoneError):
                    raise
                return
            except (OSError, httpx.HTTPError, TimeoutError, StorageUnavailableError, NoAddressError) as error:
                reason = type(error).__name__
            if notification.progress and await outbox.has_newer(pause_s or 0):
                return
            if not notification.progress:
                await asyncio.sleep(pause_s or 0)
        attempts = len(self._retries.pauses_s) + 1
        logger.warning("task %s: a notification is dropped after %d attempts: %s", outbox.task_id, attempts, reason)

    async def _post(self, http: httpx.AsyncClient, webhook: Webhook, body: bytes) -> None:
        """Posts a body once. Raises _FinalError, and errors of the network, after which another attempt may succeed."""
        try:
            pinned = await self._webhooks.pin(webhook.url)
        except NoAddressError:
            raise
        except UrlRefusedError as error:
            raise _FinalError(f"its webhook's URL is refused: {error}") from error
        media_type = "application/json" if webhook.whole_tasks else A2A_JSON_MEDIA_TYPE
        headers = {"content-type": media_type, **dict(webhook.headers)}
        status = await post_once(http, pinned, body, headers, timeout_s=self._retries.timeout_s)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _TRANSIENT:
            raise httpx.TransportError(f"status {status}")
        if status == HTTPStatus.GONE:
            raise _GoneError("its webhook is gone (410)")
        if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            raise _FinalError(f"its webhook answered {status}, and redirects are not followed")

    async def _whole_task(self, task_id: str) -> bytes:
        """The task as stored, in the form of A2A 0.3. Raises StorageUnavailableError."""
        record = await self._tasks.get(task_id)
        if record is None:
            raise _FinalError("its task is gone")
        return await asyncio.to_thread(_task_body, record.body)


def _event_body(event: PushNotificationEvent) -> bytes:
    return json.dumps(MessageToDict(to_stream_response(event))).encode()


def _task_body(packed: bytes) -> bytes:
    return to_compat_task(task_of(packed)).model_dump_json(by_alias=True, exclude_none=True).encode()

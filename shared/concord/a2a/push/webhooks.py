"""The webhooks of tasks: which configs of clients are accepted, and what is stored of them."""

import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from a2a.server.context import ServerCallContext
from a2a.server.tasks import PushNotificationConfigStore
from a2a.types import a2a_pb2 as pb
from a2a.utils.constants import VERSION_HEADER
from a2a.utils.errors import InvalidParamsError
from google.protobuf.json_format import MessageToDict, ParseDict

from concord.task_records import TooManyWebhooksError, WebhookRecords
from concord.trust.urls import NoAddressError, PinnedUrl, UrlRefusedError, check_form

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

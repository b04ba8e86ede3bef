"""`/webhooks`: notices over HTTP."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import Depends, Query
from pydantic import BaseModel, Field, HttpUrl, JsonValue

from concord_environment.api.access import Served, permitted
from concord_environment.api.routing import PrefixRouter
from concord_environment.modalities.fields import JsonObject
from concord_environment.notices.delivery import Delivery
from concord_environment.notices.webhooks import Webhook, WebhookStatus

EventPattern = Annotated[str, Field(min_length=1, max_length=100)]
Patterns = Annotated[list[EventPattern], Field(max_length=100)]
Secret = Annotated[str, Field(min_length=1, max_length=200)]


class WebhookRequest(BaseModel):
    """A new webhook.

    `events` selects types of notices: `email.sent` is one type, and `email.` all types that start with it. Without
    `events`, the webhook receives all notices. `secret` signs the posts.
    """

    url: HttpUrl
    events: Patterns | None = None
    secret: Secret | None = None
    metadata: JsonObject = Field(default_factory=dict)


class WebhookChange(BaseModel):
    """The changes to a webhook. Absent fields stay as they are; null for `events` selects all notices."""

    url: HttpUrl | None = None
    events: Patterns | None = None
    secret: Secret | None = None
    metadata: JsonObject | None = None
    status: Literal["active", "paused"] | None = None


class WebhookView(BaseModel):
    """A webhook without its secret. `failure_count` counts the failed deliveries in a row."""

    id: str
    url: str
    events: list[str] | None
    status: WebhookStatus
    created_at: datetime
    updated_at: datetime
    metadata: dict[str, JsonValue]
    failure_count: int
    last_delivery_at: datetime | None
    last_failure_at: datetime | None
    has_secret: bool


class WebhookList(BaseModel):
    """A page of webhooks."""

    items: list[WebhookView]
    total: int
    limit: int
    offset: int


class DeliveryView(BaseModel):
    """The delivery of a notice to a webhook."""

    id: str
    webhook_id: str
    event_type: str
    status: Literal["delivered", "failed"]
    attempt_count: int
    created_at: datetime
    delivered_at: datetime | None
    response_status: int | None
    response_time_ms: float | None
    error_message: str | None


class DeliveryList(BaseModel):
    """The latest deliveries to a webhook, latest first."""

    items: list[DeliveryView]
    total: int


class TestResult(BaseModel):
    """The outcome of a test delivery."""

    webhook_id: str
    success: bool
    response_status: int | None
    response_time_ms: float | None
    error_message: str | None


router = PrefixRouter(prefix="/webhooks", tags=["webhooks"])


@router.post("", status_code=201, dependencies=[Depends(permitted("webhooks:create"))])
async def register(request: WebhookRequest, environment: Served) -> WebhookView:
    """Registers a webhook. With a secret, each post has the header X-UES-Signature: `sha256=` and the HMAC-SHA256 of
    the body in hexadecimal.

    The service tries each delivery three times, and disables a webhook after ten failed deliveries in a row. Responds
    with 422 if the host of the URL is neither on the public internet nor in an allowed private network, and with 409 if
    there are 100 webhooks.
    """
    hook = await environment.webhooks.register(
        str(request.url), request.events, request.secret, dict(request.metadata), datetime.now(UTC)
    )
    return _view(hook)


@router.get("", dependencies=[Depends(permitted("webhooks:list"))])
async def list_webhooks(
    environment: Served,
    status: WebhookStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
) -> WebhookList:
    """Returns the webhooks, optionally those with a status only: by default 50, at most 200."""
    hooks = [hook for hook in environment.webhooks.all() if status in (None, hook.status)]
    page = [_view(hook) for hook in hooks[offset : offset + limit]]
    return WebhookList(items=page, total=len(hooks), limit=limit, offset=offset)


@router.get("/{webhook_id}", dependencies=[Depends(permitted("webhooks:read"))])
async def read_webhook(webhook_id: str, environment: Served) -> WebhookView:
    """Returns a webhook without its secret. Responds with 404 if it does not exist."""
    return _view(environment.webhooks.get(webhook_id))


@router.patch("/{webhook_id}", dependencies=[Depends(permitted("webhooks:update"))])
async def update_webhook(webhook_id: str, request: WebhookChange, environment: Served) -> WebhookView:
    """Changes the given fields of a webhook. Responds with 404 if it does not exist, and with 422 as for a new URL."""
    changes = request.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    if "events" in request.model_fields_set:
        changes["events"] = None if request.events is None else tuple(request.events)
    return _view(await environment.webhooks.change(webhook_id, datetime.now(UTC), **changes))


@router.delete("/{webhook_id}", status_code=204, dependencies=[Depends(permitted("webhooks:delete"))])
async def delete_webhook(webhook_id: str, environment: Served) -> None:
    """Deletes a webhook. Responds with 404 if it does not exist."""
    environment.webhooks.remove(webhook_id)


@router.post("/{webhook_id}/test", dependencies=[Depends(permitted("webhooks:test"))])
async def test_webhook(webhook_id: str, environment: Served) -> TestResult:
    """Posts a test notice to a webhook, without retries. Responds with 404 if the webhook does not exist."""
    delivery = await environment.webhooks.test(webhook_id, environment.simulation.now)
    return TestResult(
        webhook_id=webhook_id,
        success=delivery.status == "delivered",
        response_status=delivery.response_status,
        response_time_ms=delivery.response_time_ms,
        error_message=delivery.error_message,
    )


@router.post("/{webhook_id}/pause", dependencies=[Depends(permitted("webhooks:pause"))])
async def pause_webhook(webhook_id: str, environment: Served) -> WebhookView:
    """Pauses a webhook: the service posts nothing to it until it is resumed. Responds with 404 if it does not exist."""
    return _view(await environment.webhooks.change(webhook_id, datetime.now(UTC), status="paused"))


@router.post("/{webhook_id}/resume", dependencies=[Depends(permitted("webhooks:resume"))])
async def resume_webhook(webhook_id: str, environment: Served) -> WebhookView:
    """Resumes a webhook that is paused, or disabled after failures. Responds with 404 if it does not exist."""
    return _view(await environment.webhooks.change(webhook_id, datetime.now(UTC), status="active"))


@router.get("/{webhook_id}/deliveries", dependencies=[Depends(permitted("webhooks:deliveries"))])
async def list_deliveries(
    webhook_id: str, environment: Served, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> DeliveryList:
    """Returns the latest deliveries to a webhook: by default 50, at most 200.

    Responds with 404 if the webhook does not exist.
    """
    deliveries = environment.webhooks.deliveries(webhook_id)
    return DeliveryList(items=[_delivery(delivery) for delivery in deliveries[:limit]], total=len(deliveries))


def _view(hook: Webhook) -> WebhookView:
    return WebhookView(
        id=hook.id,
        url=hook.url,
        events=None if hook.events is None else list(hook.events),
        status=hook.status,
        created_at=hook.created_at,
        updated_at=hook.updated_at,
        metadata=hook.metadata,
        failure_count=hook.failure_count,
        last_delivery_at=hook.last_delivery_at,
        last_failure_at=hook.last_failure_at,
        has_secret=hook.secret is not None,
    )


def _delivery(delivery: Delivery) -> DeliveryView:
    return DeliveryView.model_validate(delivery, from_attributes=True)

"""`/ws`: notices over a WebSocket."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, ValidationError

from concord_environment.api.access import environment_of
from concord_environment.environment import Environment
from concord_environment.notices.bus import Notice, Subscription

REFUSED: Final = 4401
"""The close code for a key that is missing, invalid or revoked, or lacks `notices:read`."""


class SocketMessage(BaseModel):
    """A message from a subscriber: a ping, or the types of notices to send. Without `events`, these are all types."""

    action: Literal["subscribe", "ping"]
    events: Annotated[list[Annotated[str, Field(max_length=100)]] | None, Field(max_length=100)] = None


router = APIRouter()


@router.websocket("/ws")
async def notices(socket: WebSocket, api_key: Annotated[str | None, Query(max_length=200)] = None) -> None:
    """Sends notices until the subscriber disconnects.

    The key is in the header X-API-Key or, for browsers, in the query parameter `api_key`.
    """
    environment = environment_of(socket)
    secret = socket.headers.get("x-api-key") or api_key

    def admitted() -> bool:
        return _admitted(environment, secret)

    if not admitted():
        await socket.close(code=REFUSED, reason="a key with the permission 'notices:read' is required")
        return
    await socket.accept()
    with environment.bus.subscribe() as subscription:
        sending = asyncio.create_task(_send(socket, subscription, admitted))
        try:
            while True:
                await _listen(socket, environment, subscription)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            sending.cancel()


def _admitted(environment: Environment, secret: str | None) -> bool:
    key = environment.keys.authenticate(secret) if secret else None
    return key is not None and key.may("notices:read")


async def _listen(socket: WebSocket, environment: Environment, subscription: Subscription) -> None:
    text = await socket.receive_text()
    try:
        said = SocketMessage.model_validate_json(text)
    except ValidationError:
        await socket.send_json({"type": "error", "data": {"message": "action must be 'subscribe' or 'ping'"}})
        return
    if said.action == "ping":
        await socket.send_json({"action": "pong"})
        return
    subscription.patterns = said.events
    confirmation = Notice("subscription.updated", {"filters": said.events}, environment.simulation.now)
    await socket.send_json(_as_json(confirmation))


async def _send(socket: WebSocket, subscription: Subscription, admitted: Callable[[], bool]) -> None:
    while True:
        notice = await subscription.next()
        if not admitted():
            await socket.close(code=REFUSED, reason="the key was revoked")
            return
        await socket.send_json(_as_json(notice))


def _as_json(notice: Notice) -> dict[str, object]:
    return {"type": notice.type, "data": notice.data, "timestamp": notice.timestamp.isoformat()}

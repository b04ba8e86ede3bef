"""`/ws`: being told over a web socket."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, ValidationError

from concord_environment.access.keys import Key
from concord_environment.api.access import environment_of
from concord_environment.environment import Environment
from concord_environment.notices.bus import Notice, Subscription


class SocketMessage(BaseModel):
    """What a subscriber may say: which notices it wants (all, without patterns), or that it is there."""

    action: Literal["subscribe", "ping"]
    events: Annotated[list[Annotated[str, Field(max_length=100)]] | None, Field(max_length=100)] = None


router = APIRouter()


@router.websocket("/ws")
async def notices(socket: WebSocket, api_key: Annotated[str | None, Query(max_length=200)] = None) -> None:
    """Sends notices until the subscriber leaves. The key comes as X-API-Key, or from a browser as `api_key`."""
    environment = environment_of(socket)
    if _admitted(environment, socket.headers.get("x-api-key") or api_key) is None:
        await socket.close(code=4401, reason="a key with 'notices:read' is needed")
        return
    await socket.accept()
    with environment.bus.subscribe() as subscription:
        sending = asyncio.create_task(_send(socket, subscription))
        try:
            while True:
                await _listen(socket, environment, subscription)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            sending.cancel()


def _admitted(environment: Environment, secret: str | None) -> Key | None:
    key = environment.keyring.admit(secret) if secret else None
    return key if key is not None and key.may("notices:read") else None


async def _listen(socket: WebSocket, environment: Environment, subscription: Subscription) -> None:
    text = await socket.receive_text()
    try:
        said = SocketMessage.model_validate_json(text)
    except ValidationError:
        await socket.send_json({"type": "error", "data": {"message": "say subscribe or ping"}})
        return
    if said.action == "ping":
        await socket.send_json({"action": "pong"})
        return
    subscription.patterns = said.events
    confirmation = Notice("subscription.updated", {"filters": said.events}, environment.simulation.now)
    await socket.send_json(_as_json(confirmation))


async def _send(socket: WebSocket, subscription: Subscription) -> None:
    while True:
        await socket.send_json(_as_json(await subscription.next()))


def _as_json(notice: Notice) -> dict[str, object]:
    return {"type": notice.type, "data": notice.data, "timestamp": notice.timestamp.isoformat()}

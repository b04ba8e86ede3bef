"""Making oneself known in the collector's open registry, and staying known."""

import asyncio
import logging
from typing import Final

import httpx

from concord_purple.settings import PurpleSettings

logger = logging.getLogger(__name__)

RENEW_S: Final = 1200
"""Well within the hour after which the registry forgets an agent."""

RETRY_S: Final = 5
REFUSED_RETRY_S: Final = 300
"""For an answer that will not change soon."""

_TIMEOUT_S: Final = 5.0


async def stay_registered(settings: PurpleSettings) -> None:
    """Registers the agent and renews that until cancelled; does nothing where the settings name no collector.

    That is for who looks for agents outside any assessment. In one, the client declares them, and none registers.
    """
    if settings.collector_url is None:
        return
    url = f"{str(settings.collector_url).rstrip('/')}/register"
    entry: dict[str, object] = {"id": settings.own_id, "url": settings.own_url, "functions": [settings.function]}
    token = settings.collector_token
    headers = {} if token is None else {"authorization": f"Bearer {token.get_secret_value()}"}
    async with httpx.AsyncClient(timeout=_TIMEOUT_S, headers=headers) as http:
        while True:
            pause_s = await _register(http, url, entry)
            await asyncio.sleep(pause_s)


async def _register(http: httpx.AsyncClient, url: str, entry: dict[str, object]) -> float:
    """Registers once; returns after how long to do so again (seconds)."""
    try:
        answer = await http.post(url, json=entry)
        if answer.status_code in {401, 403}:
            logger.error("the collector lets us not register: %s (PURPLE_COLLECTOR_TOKEN)", answer.text[:200])
            return REFUSED_RETRY_S
        answer.raise_for_status()
    except httpx.HTTPError as error:
        logger.warning("not registered with the collector: %s: %s", type(error).__name__, error)
        return RETRY_S
    return RENEW_S

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
_TIMEOUT_S: Final = 5.0


async def stay_registered(settings: PurpleSettings) -> None:
    """Registers the agent and renews that until cancelled; does nothing where the settings name no collector."""
    if settings.collector_url is None:
        return
    url = f"{str(settings.collector_url).rstrip('/')}/register"
    entry = {"id": settings.own_id, "url": settings.own_url, "functions": [settings.function]}
    async with httpx.AsyncClient(timeout=_TIMEOUT_S) as http:
        while True:
            try:
                (await http.post(url, json=entry)).raise_for_status()
                pause_s = RENEW_S
            except httpx.HTTPError as error:
                logger.warning("not registered with the collector: %s: %s", type(error).__name__, error)
                pause_s = RETRY_S
            await asyncio.sleep(pause_s)

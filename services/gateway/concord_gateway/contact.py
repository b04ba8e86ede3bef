"""Contact: reaches every participant before the first trial, and reads its agent card."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_exponential

from concord.a2a import AgentTimeoutError, AgentUnreachableError, CardSummary, RemoteError, fetch_card
from concord.a2a.client import NO_CREDENTIALS
from concord.trust.credentials import Credentials
from concord.trust.urls import PeerUrls
from concord_gateway.progress import Progress

logger = logging.getLogger(__name__)

RETRY_S: Final = 10.0
"""How long the gateway retries a participant that refuses connections: it may be starting up."""

_ONE_TRY_S: Final = 5.0
_TELL_S: Final = 2.0


@dataclass(slots=True)
class Contacts:
    """`cards` holds the card of each participant that was reached, None if unreadable; `missing` the reason for each
    other."""

    cards: dict[str, CardSummary | None] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


async def contact(
    participants: Mapping[str, str],
    progress: Progress,
    peer_urls: PeerUrls | None = None,
    credentials: Credentials = NO_CREDENTIALS,
) -> Contacts:
    """Contacts all participants (id: URL) concurrently, with retries for `RETRY_S`.

    A participant that accepts a connection counts as reached, whatever it answers. A proxy's 502 to 504 counts as a
    refused connection. `peer_urls` restricts the addresses that may be contacted. `credentials`: what participants are
    shown.
    """
    found = Contacts()
    pending = {
        asyncio.create_task(_reach(name, url, found, peer_urls, credentials)): name
        for name, url in participants.items()
    }
    try:
        while pending:
            done, _ = await asyncio.wait(pending, timeout=_TELL_S, return_when=asyncio.ALL_COMPLETED)
            for task in done:
                task.result()
                del pending[task]
            if pending:
                await progress.tell(f"contacting participants: waiting for {', '.join(sorted(pending.values()))}")
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
    return found


async def _reach(name: str, url: str, found: Contacts, peer_urls: PeerUrls | None, credentials: Credentials) -> None:
    card: CardSummary | None = None
    try:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception(_accepted_no_connection),
            stop=stop_after_delay(RETRY_S),
            wait=wait_exponential(multiplier=0.1, max=2),
            reraise=True,
        ):
            with attempt:
                card = await fetch_card(url, timeout_s=_ONE_TRY_S, peer_urls=peer_urls, credentials=credentials)
    except (AgentUnreachableError, RemoteError) as error:
        if _accepted_no_connection(error):
            found.missing[name] = _reason(error)
            return
        logger.warning("participant %s: its card cannot be fetched: %s", name, error)
    found.cards[name] = card


def _accepted_no_connection(error: BaseException) -> bool:
    return isinstance(error, AgentUnreachableError) and not isinstance(error, AgentTimeoutError)


def _reason(error: BaseException) -> str:
    """The root cause of a failure: the exceptions above it only repeat which participant it was."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__

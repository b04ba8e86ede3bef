"""Contact: every participant is reached before the first trial, and what its card says of it is read."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_exponential

from concord.a2a import AgentTimeoutError, AgentUnreachableError, CardSummary, RemoteError, fetch_card
from concord.trust.urls import PeerUrls
from concord_gateway.progress import Progress

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 10.0
"""How long a participant that accepts no connection is tried: it may be about to start."""

_ONE_TRY_S: Final = 5.0
_TELL_S: Final = 2.0


@dataclass(slots=True)
class Contacts:
    """`cards`: of those reached, None where a card could not be read. `missing`: why the others were not reached."""

    cards: dict[str, CardSummary | None] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


async def contact(participants: Mapping[str, str], progress: Progress, peer_urls: PeerUrls | None = None) -> Contacts:
    """Reaches all participants (id: URL) at once, each again and again for `PATIENCE_S`.

    One that accepts a connection is reached, whatever it answers; a proxy that says that there is nobody (502 to 504)
    accepts none for it. With `peer_urls`, none is looked for where these do not allow it to be.
    """
    found = Contacts()
    pending = {asyncio.create_task(_reach(name, url, found, peer_urls)): name for name, url in participants.items()}
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


async def _reach(name: str, url: str, found: Contacts, peer_urls: PeerUrls | None) -> None:
    card: CardSummary | None = None
    try:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception(_accepted_no_connection),
            stop=stop_after_delay(PATIENCE_S),
            wait=wait_exponential(multiplier=0.1, max=2),
            reraise=True,
        ):
            with attempt:
                card = await fetch_card(url, timeout_s=_ONE_TRY_S, peer_urls=peer_urls)
    except (AgentUnreachableError, RemoteError) as error:
        if _accepted_no_connection(error):
            found.missing[name] = _reason(error)
            return
        logger.warning("participant %s: no card: %s", name, error)
    found.cards[name] = card


def _accepted_no_connection(error: BaseException) -> bool:
    return isinstance(error, AgentUnreachableError) and not isinstance(error, AgentTimeoutError)


def _reason(error: BaseException) -> str:
    """What is at the bottom of a failure; what lies above it only says again who could not be reached."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__

"""The addresses to which an agent's card may lead the client."""

import logging
from dataclasses import replace

import httpx

from concord.a2a.agent_card import Interface
from concord.trust.redaction import redact
from concord.trust.urls import PeerUrls, UrlRefusedError, lies_under

logger = logging.getLogger(__name__)


class CardGuard:
    """Keeps a card from leading the client to a forbidden address."""

    def __init__(self, declared: str, peer_urls: PeerUrls) -> None:
        self._declared = declared
        self._peer_urls = peer_urls

    async def allowed(self, interface: Interface) -> Interface:
        """An interface of the card, at the declared URL if its own is forbidden."""
        if not lies_under(interface.url, self._declared):
            try:
                await self._peer_urls.pin(interface.url)
            except UrlRefusedError as error:
                logger.warning("%s: ignoring a URL in its card: %s", redact(self._declared), error)
                return replace(interface, url=self._declared)
        return interface

    async def pin(self, request: httpx.Request) -> None:
        """Sends a request to the address that was checked, since the name may resolve to another by now. Raises
        UrlRefusedError."""
        url = str(request.url)
        ours = lies_under(url, self._declared)
        pinned = await (self._peer_urls.pin_declared(url) if ours else self._peer_urls.pin(url))
        if pinned is not None:
            request.url = request.url.copy_with(host=str(pinned.address))
            request.extensions = {**request.extensions, "sni_hostname": pinned.host}

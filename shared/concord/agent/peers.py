"""Peer discovery: the agents that an agent can call, from its settings and from the registry."""

import logging
from collections.abc import Mapping
from typing import Final, Self

import httpx
from pydantic import BaseModel

from concord.wire.assignment import Assignment
from concord.wire.roster import RosterEntry

logger = logging.getLogger(__name__)

_TIMEOUT_S: Final = 5.0


class PeerList(BaseModel):
    """The registry's answer to `GET /peers`."""

    peers: list[RosterEntry]


class PeerDiscovery:
    """Finds peers: static ones, and those in the assignment's registry.

    The registry overrides static peers with the same id: during an assessment, its URLs lead through the proxy. A peer
    that a registry once named counts only where the registry of the moment names it.
    """

    def __init__(self, static: Mapping[str, str] | None = None) -> None:
        self._static = {name: RosterEntry(id=name, url=url) for name, url in (static or {}).items()}
        self._registered_ids: set[str] = set()
        self._http = httpx.AsyncClient(timeout=_TIMEOUT_S, follow_redirects=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection to the registry."""
        await self._http.aclose()

    async def peers(self, assignment: Assignment | None = None) -> list[RosterEntry]:
        """The agents that can be called, sorted by id, without the caller.

        If the registry cannot be reached, logs that and returns the static peers.
        """
        known = dict(self._static)
        if assignment is not None and assignment.peers_url is not None:
            registered = await self._registered(assignment, assignment.peers_url)
            if registered is not None:
                self._registered_ids |= registered.keys()
                known = {name: entry for name, entry in known.items() if name not in self._registered_ids} | registered
        own_id = None if assignment is None else assignment.agent_id
        return sorted((entry for entry in known.values() if entry.id != own_id), key=lambda entry: entry.id)

    async def _registered(self, assignment: Assignment, url: str) -> dict[str, RosterEntry] | None:
        """The registry's entries by id; None if it cannot be reached."""
        token = assignment.token
        headers = {} if token is None else {"authorization": f"Bearer {token.get_secret_value()}"}
        try:
            response = await self._http.get(url, headers=headers)
            response.raise_for_status()
            return {entry.id: entry for entry in PeerList.model_validate_json(response.content).peers}
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            logger.warning("cannot get peers from the registry: %s: %s", type(error).__name__, error)
            return None

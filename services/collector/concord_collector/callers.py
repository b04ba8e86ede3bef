"""Callers: who sends a request, by token or, where that is allowed, by address alone."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Final

from fastapi import HTTPException, Request

from concord.storage import OPEN_SCOPE, AgentRegistry, StorageUnavailableError
from concord.trust.closed_trials import ClosedTrials
from concord.trust.keyring import Keyring
from concord.trust.tokens import Claims, TokenRejectedError
from concord_collector.answers import storage_is_away, trial_is_closed

_MAX_MET: Final = 4096
_CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request; `name` is what it is counted under. `claims` are what its token proves, None without one."""

    name: str
    claims: Claims | None = None
    token: str | None = field(default=None, repr=False)


class Callers:
    """Tells callers apart. Without a token one is let in only where the house is open."""

    def __init__(self, keyring: Keyring, closed: ClosedTrials, registry: AgentRegistry, *, open_house: bool) -> None:
        self._keyring = keyring
        self._registry = registry
        self._met: OrderedDict[str, None] = OrderedDict()
        """The traces of whose participants all tokens are known here, and so are redacted in what any of them sends."""
        self._closed = closed
        self._open = open_house

    async def identify(self, request: Request) -> Caller:
        """Who sent a request. Raises 401 for a token that is none of ours or has expired, or is missing."""
        header = request.headers.get("authorization")
        if header is None:
            if not self._open:
                raise HTTPException(401, "a token is needed", _CHALLENGE)
            return Caller(address_of(request))
        scheme, _, rest = header.partition(" ")
        token = rest.strip()
        if scheme.lower() != "bearer":
            raise HTTPException(401, "send the token as Bearer", _CHALLENGE)
        try:
            claims = await self._keyring.verify(token)
            await self._meet_team(claims)
        except TokenRejectedError as error:
            raise HTTPException(401, str(error), _CHALLENGE) from error
        except StorageUnavailableError as error:
            raise storage_is_away() from error
        return Caller(f"participant {claims.assessment_id}/{claims.agent_id}", claims, token)

    async def _meet_team(self, claims: Claims) -> None:
        """Makes the tokens of a caller's whole team: they claim what its own does, but for the name."""
        if claims.trace_id in self._met or claims.assessment_id == OPEN_SCOPE:
            return
        issuer = await self._keyring.issuer()
        for entry in await self._registry.agents(claims.assessment_id):
            issuer.issue(replace(claims, agent_id=entry.id))
        self._met[claims.trace_id] = None
        while len(self._met) > _MAX_MET:
            self._met.popitem(last=False)

    async def identify_at_work(self, request: Request) -> Caller:
        """As `identify`. Raises 403 for the token of a trial that is closed, too: there is nothing left to ask for."""
        caller = await self.identify(request)
        try:
            if caller.claims is not None and await self._closed.contain(caller.claims.trace_id):
                raise trial_is_closed()
        except StorageUnavailableError as error:
            raise storage_is_away() from error
        return caller


def address_of(request: Request) -> str:
    """What a caller without a token is counted under."""
    return f"address {request.client.host if request.client is not None else 'unknown'}"

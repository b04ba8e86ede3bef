"""Who sends a request: the participant that its token names or, where the collector is open, an address."""

from dataclasses import dataclass, field, replace
from typing import Final

from cachetools import FIFOCache
from fastapi import HTTPException, Request

from concord.errors import StorageUnavailableError
from concord.storage import OPEN_SCOPE, AgentRegistry
from concord.trust.closed_trials import ClosedTrials
from concord.trust.token_keys import TokenKeys
from concord.trust.tokens import Claims, TokenRejectedError
from concord_collector.http_errors import storage_unavailable, trial_closed

_MAX_KNOWN_TRACES: Final = 4096
WHERE_TOKENS_ARE: Final = (
    "a token is required, as `Authorization: Bearer TOKEN`: in an assessment, each message to a participant has the "
    "participant's own in its metadata, in the assignment; without one, start the collector with CONCORD_OPEN=1"
)
_CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request. Rate limits count it under `name`; `claims` are its token's, None without a token."""

    name: str
    claims: Claims | None = None
    token: str | None = field(default=None, repr=False)


class Authenticator:
    """Authenticates callers by bearer token. `allow_anonymous`: a caller without a token is let in."""

    def __init__(
        self, token_keys: TokenKeys, closed: ClosedTrials, registry: AgentRegistry, *, allow_anonymous: bool
    ) -> None:
        self._token_keys = token_keys
        self._registry = registry
        self._known_traces: FIFOCache[str, None] = FIFOCache(_MAX_KNOWN_TRACES)
        """Traces of which this process knows every participant's token, and so redacts it from all bodies."""
        self._closed = closed
        self._allow_anonymous = allow_anonymous

    async def authenticate(self, request: Request) -> Caller:
        """The sender of a request. Raises 401 for a token that is missing, invalid or expired."""
        header = request.headers.get("authorization")
        if header is None:
            if not self._allow_anonymous:
                raise HTTPException(401, WHERE_TOKENS_ARE, _CHALLENGE)
            return Caller(_client_address(request))
        scheme, _, rest = header.partition(" ")
        token = rest.strip()
        if scheme.lower() != "bearer":
            raise HTTPException(401, "send the token as Bearer", _CHALLENGE)
        try:
            claims = await self._token_keys.verify(token)
            await self._learn_team_tokens(claims)
        except TokenRejectedError as error:
            raise HTTPException(401, str(error), _CHALLENGE) from error
        except StorageUnavailableError as error:
            raise storage_unavailable() from error
        return Caller(f"participant {claims.assessment_id}/{claims.agent_id}", claims, token)

    async def authenticate_in_open_trial(self, request: Request) -> Caller:
        """As `authenticate`. Raises 403, too, for the token of a closed trial."""
        caller = await self.authenticate(request)
        try:
            if caller.claims is not None and await self._closed.is_closed(caller.claims.trace_id):
                raise trial_closed()
        except StorageUnavailableError as error:
            raise storage_unavailable() from error
        return caller

    async def _learn_team_tokens(self, claims: Claims) -> None:
        """Issues the tokens of the caller's whole team again, so that redaction knows them.

        They have the same claims as the caller's token, but for the agent's id.
        """
        if claims.trace_id in self._known_traces or claims.assessment_id == OPEN_SCOPE:
            return
        issuer = await self._token_keys.issuer()
        for entry in await self._registry.agents(claims.assessment_id):
            issuer.issue(replace(claims, agent_id=entry.id))
        self._known_traces[claims.trace_id] = None


def _client_address(request: Request) -> str:
    """The name of a caller without a token."""
    return f"address {request.client.host if request.client is not None else 'unknown'}"

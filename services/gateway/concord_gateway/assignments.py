"""Assignments: the trace context and the token that the gateway gives each participant."""

from typing import Final

from cachetools import LRUCache
from pydantic import SecretStr

from concord.trust.token_keys import TokenKeys
from concord.trust.tokens import Claims
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT

_MAX_TOKENS: Final = 4096


class Assignments:
    """Creates the gateway's own assignment for a trial, and each participant's token."""

    def __init__(self, token_keys: TokenKeys, collector_url: str | None) -> None:
        self._token_keys = token_keys
        self._collector_url = None if collector_url is None else collector_url.rstrip("/")
        self._tokens: LRUCache[Claims, SecretStr] = LRUCache(_MAX_TOKENS)

    def own(self, assessment_id: str, trace_id: str, step_id: str) -> Assignment:
        """The gateway's own assignment for a trial, whose root step is `step_id`."""
        collector = self._collector_url
        return Assignment(
            assessment_id=assessment_id,
            trace_id=trace_id,
            step_id=step_id,
            agent_id=GREEN_AGENT,
            collector_url=collector,
            peers_url=None if collector is None else f"{collector}/peers?assessment_id={assessment_id}",
        )

    async def token(self, claims: Claims) -> SecretStr:
        """A participant's token, the same throughout a trial. Raises StorageUnavailableError."""
        token = self._tokens.get(claims)
        if token is None:
            token = self._tokens[claims] = (await self._token_keys.issuer()).issue(claims)
        return token

"""Assignments: what every participant is told of where it stands, its token with it."""

from pydantic import SecretStr

from concord.assignment import Assignment
from concord.identity import GREEN_AGENT
from concord.keyring import Keyring
from concord.tokens import Claims


class Assignments:
    """Writes assignments: the gateway's own for a trial, and a participant's for a call."""

    def __init__(self, keyring: Keyring, collector_url: str) -> None:
        self._keyring = keyring
        self._collector_url = collector_url.rstrip("/")

    def own(self, assessment_id: str, trace_id: str, step_id: str) -> Assignment:
        """The gateway's own, under which it drives a trial: `step_id` is the trial's root."""
        return Assignment(
            assessment_id=assessment_id,
            trace_id=trace_id,
            step_id=step_id,
            agent_id=GREEN_AGENT,
            collector_url=self._collector_url,
            peers_url=f"{self._collector_url}/peers?assessment_id={assessment_id}",
        )

    async def token(self, claims: Claims) -> SecretStr:
        """A participant's token. Raises StorageUnavailableError."""
        return (await self._keyring.issuer()).issue(claims)

    async def participants(self, claims: Claims, step_id: str) -> Assignment:
        """What the agent of these claims is told with the call `step_id`. Raises StorageUnavailableError."""
        own = self.own(claims.assessment_id, claims.trace_id, step_id)
        return own.for_call(step_id, claims.agent_id, await self.token(claims))

"""The assignment: tells an agent, with every message, which trial it works in; and the A2A extensions that carry it."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from concord.wire.roster import Id, Url, traceparent

# The A2A extensions that Concord supports: their URIs and metadata keys.

TRACEABILITY_URI: Final = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1"
TRACEABILITY_KEY: Final = "github.com/a2aproject/a2a-samples/extensions/traceability/v1/traceability"

TIMESTAMP_URI: Final = "https://github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1"
TIMESTAMP_LIBRARY_URI: Final = "https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1"
"""The URI in the samples' Python library for the same extension. Both are accepted and advertised."""
TIMESTAMP_KEY: Final = TIMESTAMP_URI.removeprefix("https://") + "/timestamp"

ASSIGNMENT_URI: Final = "https://github.com/concord-assessor/concord/extensions/assignment/v1"
ASSIGNMENT_KEY: Final = ASSIGNMENT_URI.removeprefix("https://") + "/assignment"

CALLS_URI: Final = "https://github.com/concord-assessor/concord/extensions/calls/v1"
"""In the card of an agent that plays tasks by calls: given the addresses of other seats, it calls them over A2A."""

TRACEPARENT_KEY: Final = "traceparent"
"""W3C Trace Context: the HTTP header, and the metadata key for agents whose A2A library hides headers."""

SUPPORTED_URIS: Final = (TRACEABILITY_URI, TIMESTAMP_URI, TIMESTAMP_LIBRARY_URI, ASSIGNMENT_URI)


# The assignment.


class Assignment(BaseModel):
    """Where an agent stands: its own id, its trace, the caller's step, and where reports and peers live.

    `step_id` is the step of the sender: steps made while answering name it as their parent, which is
    how the two ends of a call meet. The token is a secret: it is written to messages only, never to logs or rows.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    assessment_id: Id
    trace_id: Id
    step_id: Id
    agent_id: Id
    agent_seed: int | None = None
    """Seeds the agent's own random choices, the same in every run of this trial. Tasks do not depend on it."""
    collector_url: Url | None = None
    peers_url: Url | None = None
    token: SecretStr | None = None

    def for_call(self, step_id: str, callee_id: str, token: SecretStr | None = None) -> "Assignment":
        """The assignment to send when its holder calls a peer, with the callee's id and without the caller's token.

        `token` is the callee's, if the caller issues tokens.
        """
        return self.model_copy(update={"step_id": step_id, "agent_id": callee_id, "token": token})

    def metadata(self) -> dict[str, Any]:
        """The metadata entries for a message."""
        written = self.model_dump(exclude_none=True, exclude={"token"})
        if self.token is not None:
            written["token"] = self.token.get_secret_value()
        entries: dict[str, Any] = {ASSIGNMENT_KEY: written}
        if self.traceparent is not None:
            entries[TRACEPARENT_KEY] = self.traceparent
        return entries

    @property
    def traceparent(self) -> str | None:
        """The W3C trace context of the sender's step; None if the ids do not have that form."""
        return traceparent(self.trace_id, self.step_id)

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> "Assignment | None":
        """The assignment in a message's metadata, None if there is none or it is malformed."""
        try:
            return cls.model_validate(metadata.get(ASSIGNMENT_KEY))
        except ValidationError:
            return None

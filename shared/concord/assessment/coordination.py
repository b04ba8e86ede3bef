"""What coordination costs and carries: five published figures, a gap, and messages and artifacts over time."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from concord.assessment.thresholds import Fraction

MAX_ARTIFACTS: Final = 50
"""Artifacts of a trial that are listed."""

MAX_NAMED_AGENTS: Final = 20
"""Writers and readers of an artifact that are named."""


class CoordinationPart(BaseModel):
    """A part of the row, as `concord.assessment.results.Record`."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True
    )


class CoordinationFigures(CoordinationPart):
    """The five figures of Kim et al. 2025 (arXiv 2512.08296), of team tasks.

    S is the mean proven outcome of the team, and T its mean number of turns. S1 and T1 are those of one agent with all
    briefs (`solo`) on the same instances; `efficiency`, `overhead` and `error_amplification` are null without it.
    """

    pairs: int
    """Pairs of a trial of the team and of `solo`, both with an outcome."""
    turns: float | None
    """T: replies that the gateway asked for, and answered calls. Of the pairs; without any, of the team's trials."""
    solo_turns: float | None
    efficiency: float | None
    """S / (T / T1): success per relative number of turns."""
    overhead: float | None
    """(T - T1) / T1."""
    error_amplification: float | None
    """(1 - S) / (1 - S1); null where the agent alone made no error."""
    message_density: float | None
    """Delivered messages per turn, over the team's trials."""
    redundancy: Fraction | None
    """The mean similarity of what seats wrote: 1 - `information_diversity`, the cosine of TF-IDF vectors in the place
    of the paper's embeddings. Null without that metric."""
    failed_parts: int
    """Wrong or missing parts of answers, over the team's trials."""
    failed_informed: int
    """Those of them whose seat answered, and could know all that it needed when it did: Silo-Bench's gap between
    communication and reasoning (arXiv 2603.01045)."""
    failed_seats: int
    """Seats with a failed part, counted in each trial."""
    informed_seats: int
    """Those of them that could know all that their failed parts needed, and answered."""


class ArtifactUse(CoordinationPart):
    """Who changed an artifact, and who read it after somebody else had."""

    artifact: str
    writers: list[str]
    """In the order of their first change; at most `MAX_NAMED_AGENTS`, as the readers."""
    readers: list[str]
    """Agents that read it after another agent had changed it, in the order of their first such reading."""
    writes: Annotated[int, Field(ge=0)]
    reads_after: Annotated[int, Field(ge=0)]
    """Readings of what another agent had written."""


class TemporalNetwork(CoordinationPart):
    """Messages and artifacts as one network over time: what an agent knew could reach another by messages, and by what
    one wrote and the other read later (after arXiv 2608.16801)."""

    messages: int
    """Requests and answers that arrived."""
    writes: int
    reads: int
    reached: Fraction | None
    """The share of ordered pairs of agents of which the first could reach the second in time; null for fewer than two
    agents."""
    reached_by_messages: Fraction | None
    """The same by messages alone. What is missing went by artifacts."""
    artifacts: list[ArtifactUse]
    """Those with most writers and readers first; at most `MAX_ARTIFACTS`."""
    artifacts_omitted: int = 0

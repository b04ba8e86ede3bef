"""The record of a team task: its messages, the flow of facts, and the causes of wrong parts."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from concord.assessment.request import Fraction


class TeamRecord(BaseModel):
    """A part of the record, as `concord.assessment.results.Record`."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True
    )


class PartFailure(TeamRecord):
    """A cause of a wrong or missing part of the answer: where the facts that it follows from were lost."""

    part: str
    cause: Literal[
        "not_sent",
        "misdirected",
        "not_passed_on",
        "changed",
        "too_late",
        "answered_early",
        "not_used",
        "unreadable",
        "no_answer",
        "agent_failed",
    ]
    seats: list[str]
    """The seat where it lies; several where messages and answers do not tell which of them."""
    step_id: str | None
    """The message that shows it, if one does."""
    facts: list[str]


class UnexplainedKnowledge(TeamRecord):
    """Needed values in a seat's answer that neither its brief nor any message had brought."""

    seat: str
    facts: list[str]


class TeamTaskRecord(TeamRecord):
    """A trial of a task that a family generated."""

    family: str
    difficulty: int
    topology: str
    """Its name, or `edges` if the request lists them."""
    seats: list[str]
    shared_process: bool
    """Whether one participant takes several seats. The messages between such seats are proven; the separation of their
    knowledge is not."""
    control: Literal["solo", "silent"] | None
    paired_with: str | None
    chance: Fraction
    rounds: int | None
    messages: int
    """Delivered messages, each counted once for each of its receivers."""
    fewest_messages: int
    fewest_is_exact: bool
    redundant: int
    """Delivered messages that brought their receivers no fact that was new to them."""
    coverage: list[Fraction]
    """After each round, the part of the needed facts that the answering seats could know. Empty without rounds."""
    failures: list[PartFailure]
    unexplained: list[UnexplainedKnowledge]

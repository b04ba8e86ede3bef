"""A task of an assessment: a prompt with its targets, a pattern of interactions, or a drawn puzzle."""

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from concord.assessment.scorers import (
    MAX_TARGETS,
    NEED_TARGET,
    JsonScorer,
    NumericScorer,
    ScorerChoice,
    TargetText,
    named_scorer,
)
from concord.suite import MAX_DIFFICULTY, Topology
from concord.wire.roster import RESERVED_IDS, Id, ParticipantId

MAX_PARTICIPANTS = 100
MAX_TRIALS = 1000
MAX_PATTERN_EDGES = 10_000
MAX_ROUNDS = 100


def listed(value: object) -> object:
    """A list of one where one value stands for itself."""
    return [value] if isinstance(value, str | int | float) and not isinstance(value, bool) else value


def _texts(value: object) -> object:
    """Converts numbers among the targets to text, because people write `target = 42`."""
    targets = listed(value)
    if not isinstance(targets, list):
        return targets
    return [str(each) if isinstance(each, int | float) and not isinstance(each, bool) else each for each in targets]


Targets = Annotated[
    list[TargetText],
    BeforeValidator(_texts),
    Field(min_length=1, max_length=MAX_TARGETS),
]
"""One accepted answer, or several."""

RunNumber = Annotated[int, Field(ge=1, le=MAX_TRIALS)]

SeatCount = Annotated[int, Field(ge=1, le=MAX_PARTICIPANTS)]

Answerers = Annotated[list[ParticipantId], BeforeValidator(listed), Field(min_length=1, max_length=MAX_PARTICIPANTS)]
"""The participants whose answers are graded."""


def _digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


class StrictModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)


class PatternEdge(StrictModel):
    """One interaction of a pattern: `from` calls `to`."""

    caller: ParticipantId = Field(alias="from")
    callee: ParticipantId = Field(alias="to")


class InteractionPattern(StrictModel):
    """A given pattern of interactions, assessed as if agents had just had them (ground truth).

    With `steps_count`, the edges are walked in order, over and over, until that many calls are made; without it,
    each edge is one call.
    """

    agents: Annotated[list[ParticipantId], Field(min_length=1, max_length=MAX_PARTICIPANTS)]
    edges: Annotated[list[PatternEdge], Field(max_length=MAX_PATTERN_EDGES)] = []
    steps_count: Annotated[int, Field(ge=0, le=MAX_PATTERN_EDGES)] | None = None

    @model_validator(mode="after")
    def _edges_join_agents(self) -> Self:
        strangers = {end for edge in self.edges for end in (edge.caller, edge.callee)} - set(self.agents)
        if strangers:
            raise ValueError(f"edges name agents that are not in `agents`: {', '.join(sorted(strangers))}")
        if len(set(self.agents)) != len(self.agents) or RESERVED_IDS & set(self.agents):
            raise ValueError("`agents` must be distinct and none of " + ", ".join(sorted(RESERVED_IDS)))
        return self


class Control(StrEnum):
    """A comparison of the team's result on the same instances."""

    SOLO = "solo"
    """One agent gets all briefs and answers alone."""
    SILENT = "silent"
    """The team has no channel: no message is delivered."""
    ALONE = "alone"
    """The starting agent does one of the user's own tasks without its peers: none is listed, and no call is carried."""


class Exchange(StrEnum):
    """How the seats of a team exchange messages."""

    ROUNDS = "rounds"
    """The gateway asks every seat in rounds, and delivers the messages in their replies."""
    CALLS = "calls"
    """Seats call each other through the gateway's proxy."""
    AUTO = "auto"
    """By calls if every participant's card announces them, else in rounds. Decided before the first trial."""


class FamilyTask(StrictModel):
    """A task that a suite's family generates anew for every trial, from the assessment's secret."""

    name: Id
    difficulty: Annotated[int, Field(ge=1, le=MAX_DIFFICULTY)] = 2
    seats: Annotated[int, Field(ge=2, le=MAX_PARTICIPANTS)] | None = None
    """The seats of a lone participant. Several participants take one each, or the numbers in the config's `seats`."""
    topology: Topology | list[tuple[Id, Id]] = Topology.COMPLETE
    """The channels of the team: a named topology, or edges between seats."""
    exchange: Exchange = Exchange.AUTO
    max_rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] | None = None
    """Default: enough rounds for a message to cross the team and return, and four more."""
    control: Literal[Control.SOLO, Control.SILENT] | None = None
    paired_with: Id | None = None
    """The task whose instances this control uses."""
    solo_by: ParticipantId | None = None
    """The participant of a solo control."""

    @property
    def in_environment(self) -> bool:
        """Whether its seats are assistants of people in an environment."""
        return self.name.startswith(TEAM_DAY)


DAY: Final = "office-"
"""What the names of days in the office begin with: scenarios that the gateway generates."""

PUBLISHED_DAYS: Final = {"office-1": tuple(f"office-1-{number:02}" for number in range(1, 31))}
"""By the name of a manifest, its days."""

TEAM_DAY: Final = f"{DAY}team-"
"""What the names of teams' days begin with."""


class TaskSpec(StrictModel):
    """One task: a text for the team to work on, a pattern to assess as it is, a family that generates the text, or a
    scenario for an assistant.
    """

    id: Id
    text: Annotated[str, Field(max_length=100_000)] = ""
    interaction_pattern: InteractionPattern | None = None
    family: FamilyTask | None = None
    scenario: Id | None = None
    """The name of a scenario that the gateway has. The gateway sets `text` to what the scenario's user asks."""
    target: Targets | None = None
    scorer: Annotated[ScorerChoice, BeforeValidator(named_scorer)] | None = None
    answer_from: Answerers | None = None
    """The participants whose answers are graded; by default, the config's `answer_from`."""
    control: Literal[Control.ALONE] | None = None
    """Of the user's own tasks; a family's task has its own."""
    paired_with: Id | None = None
    """The task that this control does again."""

    @property
    def is_control(self) -> bool:
        """Whether its trials count in no score."""
        return self.control is not None or (self.family is not None and self.family.control is not None)

    @property
    def played_with(self) -> str:
        """The id of the task whose instances it shares: its own, or a control's `paired_with`."""
        return self.paired_with or (self.family and self.family.paired_with) or self.id

    @property
    def in_environment(self) -> bool:
        """Whether those who do it act in an environment."""
        return self.scenario is not None or (self.family is not None and self.family.in_environment)

    @property
    def is_own(self) -> bool:
        """Whether it is a task of the user's own, with a text for the team."""
        return self.family is None and self.scenario is None and self.interaction_pattern is None

    @property
    def is_generated(self) -> bool:
        """Whether its content follows from the assessment's secret: a task of a family, or a day in the office."""
        return self.family is not None or (self.scenario or "").startswith(DAY)

    @model_validator(mode="after")
    def _has_something_to_do(self) -> Self:
        if not (self.text.strip() or self.interaction_pattern or self.family or self.scenario):
            raise ValueError("a task needs a `text`, an `interaction_pattern`, a `family` or a `scenario`")
        if self.family is not None and (self.text or self.interaction_pattern is not None):
            raise ValueError("a task with a `family` has no `text` and no `interaction_pattern`: the family makes them")
        if self.scenario is not None and (self.family is not None or self.interaction_pattern is not None):
            raise ValueError("a task with a `scenario` has no `family` and no `interaction_pattern`")
        return self

    @model_validator(mode="after")
    def _can_be_graded(self) -> Self:
        if self.interaction_pattern is not None and (self.target or self.scorer or self.answer_from):
            raise ValueError("a task with an `interaction_pattern` has no answer: no `target`, `scorer`, `answer_from`")
        if self.family is not None and (self.target or self.scorer or self.answer_from):
            raise ValueError("a task with a `family` is graded by it: no `target`, `scorer`, `answer_from`")
        if self.scenario is not None and (self.target or self.scorer or self.answer_from):
            raise ValueError("a task with a `scenario` is graded by its criteria: no `target`, `scorer`, `answer_from`")
        if self.target is not None and self.scorer is None:
            raise ValueError("a `target` needs a `scorer`, which compares answers with it")
        if self.target is None and self.scorer is not None and self.scorer.name in NEED_TARGET:
            raise ValueError(f"the scorer {self.scorer.name!r} needs a `target`")
        if self.target is not None and isinstance(self.scorer, JsonScorer):
            raise ValueError("the scorer 'json' takes no `target`: use its `schema` and `values`")
        if isinstance(self.scorer, NumericScorer) and (
            words := [each for each in self.target or [] if not _digit(each)]
        ):
            raise ValueError(f"the scorer 'numeric' compares numbers, and {words[0]!r} is not a number")
        return self

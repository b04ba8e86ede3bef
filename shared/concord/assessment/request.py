"""The request of an assessment: its participants, its tasks and its configuration."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, HttpUrl, field_validator, model_validator

from concord.assessment.faults import MAX_FAULTS, PlantedFault
from concord.assessment.scorers import (
    MAX_TARGETS,
    NEED_TARGET,
    JsonScorer,
    NumericScorer,
    ScorerChoice,
    TargetText,
    named_scorer,
)
from concord.assessment.thresholds import Fraction, Thresholds
from concord.known_keys import did_you_mean
from concord.suite import MAX_DIFFICULTY, Topology
from concord.wire.ids import Id
from concord.wire.platform import RUN_S
from concord.wire.roster import RESERVED_IDS, ParticipantId, RosterEntry, normalise_url

MAX_PARTICIPANTS = 100
MAX_TASKS = 1000
MAX_TRIALS = 1000
MAX_PATTERN_EDGES = 10_000
MAX_METRICS = 1000
MAX_ROUNDS = 100
MAX_TURNS = 1000
MAX_EVALUATORS = 100


def _listed(value: object) -> object:
    return [value] if isinstance(value, str | int | float) and not isinstance(value, bool) else value


def _texts(value: object) -> object:
    """Converts numbers among the targets to text, because people write `target = 42`."""
    listed = _listed(value)
    if not isinstance(listed, list):
        return listed
    return [str(each) if isinstance(each, int | float) and not isinstance(each, bool) else each for each in listed]


Targets = Annotated[
    list[TargetText],
    BeforeValidator(_texts),
    Field(min_length=1, max_length=MAX_TARGETS),
]
"""One accepted answer, or several."""

RunNumber = Annotated[int, Field(ge=1, le=MAX_TRIALS)]

SeatCount = Annotated[int, Field(ge=1, le=MAX_PARTICIPANTS)]

Answerers = Annotated[list[ParticipantId], BeforeValidator(_listed), Field(min_length=1, max_length=MAX_PARTICIPANTS)]
"""The participants whose answers are graded."""


def _digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


class Mode(StrEnum):
    """Where the interactions of an assessment come from."""

    GROUND_TRUTH = "ground_truth"
    RECORDED = "recorded"
    LIVE = "live"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)


class PatternEdge(_Strict):
    """One interaction of a pattern: `from` calls `to`."""

    caller: ParticipantId = Field(alias="from")
    callee: ParticipantId = Field(alias="to")


class InteractionPattern(_Strict):
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


class FamilyTask(_Strict):
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


class TaskSpec(_Strict):
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
    def is_own(self) -> bool:
        """Whether it is a task of the user's own, with a text for the team."""
        return self.family is None and self.scenario is None and self.interaction_pattern is None

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


class PluginChoice(_Strict):
    """A metric or an evaluator with parameters, or one to leave out."""

    id: Id
    enabled: bool = True
    params: Annotated[dict[Id, Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=16)] = {}


class AssessmentConfig(BaseModel):
    """The `config` of a request. Unknown keys cause a warning, or an error with `strict`."""

    model_config = ConfigDict(frozen=True, extra="allow", validate_by_name=True, validate_by_alias=True)

    tasks: Annotated[list[TaskSpec], Field(min_length=1, max_length=MAX_TASKS)] | None = None
    task: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    interaction_pattern: InteractionPattern | None = None
    suite: Annotated[list[Id], BeforeValidator(_listed), Field(min_length=1, max_length=MAX_TASKS)] | None = None
    """A manifest of an installed suite, or families or groups of families."""
    scenario: Annotated[list[Id], BeforeValidator(_listed), Field(min_length=1, max_length=MAX_TASKS)] | None = None
    """Scenarios for an assistant, by the names that the gateway has them under."""
    max_turns: Annotated[int, Field(ge=1, le=MAX_TURNS)] | None = None
    """Of scenarios; by default, each scenario's own."""
    seats: Annotated[int, Field(ge=1, le=MAX_PARTICIPANTS)] | dict[ParticipantId, SeatCount] | None = None
    """The seats of each participant in tasks of families: one number for all, or a number for each named one."""
    topology: Topology | list[tuple[Id, Id]] | None = None
    difficulty: Annotated[int, Field(ge=1, le=MAX_DIFFICULTY)] | None = None
    exchange: Exchange | None = None
    max_rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] | None = None
    """`topology`, `difficulty`, `exchange` and `max_rounds` replace the values of a manifest or of a family's task."""
    controls: Annotated[list[Control], BeforeValidator(_listed), Field(max_length=len(Control))] = []
    faults: Annotated[list[PlantedFault], Field(max_length=MAX_FAULTS)] = []
    """Of the network between the seats of teams that exchange messages in rounds. The row is then never ranked."""
    num_runs: Annotated[int, Field(ge=1, le=100)] = 1
    num_instances: Annotated[int, Field(ge=1, le=MAX_TRIALS)] | None = None
    """The number of trials of all shards together; by default, one per task and run."""
    trials: Annotated[list[tuple[Id, RunNumber]], Field(min_length=1, max_length=MAX_TRIALS)] | None = None
    """The trials to run of those planned, in this order, each as its task and run; by default, all of them."""
    seed: int = 0
    start: str = "all"
    answer_from: Answerers | None = None
    """The participants whose answers are graded; by default, all participants that receive the task."""
    allow_missing: bool = False
    """Whether the assessment goes on without participants that cannot be reached at its start."""
    roster: Annotated[list[RosterEntry], Field(max_length=MAX_PARTICIPANTS)] = []
    evaluators: Annotated[list[Id | PluginChoice], Field(max_length=MAX_EVALUATORS)] | None = None
    metrics: Annotated[list[Id | PluginChoice], Field(max_length=MAX_METRICS)] | None = None
    thresholds: Thresholds = Thresholds()
    weights: dict[Literal["task", "communication", "distribution", "reliability", "efficiency"], Fraction] = {}
    evidence: Literal["any", "corroborated", "observed"] = "any"
    timeout_s: Annotated[float, Field(gt=0, le=RUN_S)] | None = None
    trial_timeout_s: Annotated[float, Field(gt=0, le=RUN_S)] | None = None
    turn_timeout_s: Annotated[float, Field(gt=0, le=RUN_S)] | None = None
    quiet_s: Annotated[float, Field(ge=0, le=60)] = 1
    closing_cap_s: Annotated[float, Field(gt=0, le=300)] = 10
    shard_index: Annotated[int, Field(ge=0, lt=20)] = 0
    num_shards: Annotated[int, Field(ge=1, le=20)] = 1
    agentbeats_ids: dict[ParticipantId, str] = {}
    strict: bool = False

    @model_validator(mode="before")
    @classmethod
    def _one_source_of_tasks(cls, data: object) -> object:
        sources = ("tasks", "task", "interaction_pattern", "suite", "scenario")
        if isinstance(data, dict) and sum(data.get(source) is not None for source in sources) > 1:
            raise ValueError("give only one of `tasks`, `task`, `interaction_pattern`, `suite` and `scenario`")
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.strict and self.unknown_keys:
            unknown = (f"{key}{did_you_mean(key, type(self).model_fields)}" for key in self.unknown_keys)
            raise ValueError(f"unknown keys (`strict` is set): {', '.join(unknown)}")
        if self.shard_index >= self.num_shards:
            raise ValueError("`shard_index` must be below `num_shards`")
        if self.tasks is not None and len({task.id for task in self.tasks}) != len(self.tasks):
            raise ValueError("task ids must be distinct")
        return self

    @property
    def unknown_keys(self) -> list[str]:
        """The unknown keys of the config, sorted."""
        return sorted(self.model_extra or {})

    def chosen_metrics(self, available: Iterable[str]) -> dict[str, dict[str, float]]:
        """The ids of the metrics to show, with their parameters: those listed, whether or not they are available. A
        list that only disables metrics leaves all other available ones; None leaves all."""
        return _chosen(self.metrics, available)

    def chosen_evaluators(self, available: Iterable[str]) -> dict[str, dict[str, float]]:
        """The ids of the evaluators to run, with their parameters, chosen as the metrics are."""
        return _chosen(self.evaluators, available)

    def chosen_tasks(self) -> list[TaskSpec]:
        """The tasks that the config itself holds; none if it names a suite or nothing."""
        if self.task is not None:
            return [TaskSpec(id="task", text=self.task)]
        if self.interaction_pattern is not None:
            return [TaskSpec(id="pattern", interaction_pattern=self.interaction_pattern)]
        if self.scenario is not None:
            return [TaskSpec(id=name, scenario=name) for name in dict.fromkeys(self.scenario)]
        return self.tasks or []


def _chosen(listed: Iterable[str | PluginChoice] | None, available: Iterable[str]) -> dict[str, dict[str, float]]:
    choices = [PluginChoice(id=each) if isinstance(each, str) else each for each in listed or ()]
    chosen: dict[str, dict[str, float]] = {each.id: each.params for each in choices if each.enabled}
    unwanted = {each.id for each in choices if not each.enabled}
    if listed is None or (unwanted and not chosen):
        chosen = {plugin_id: {} for plugin_id in available}
    return {plugin_id: params for plugin_id, params in chosen.items() if plugin_id not in unwanted}


class AssessmentRequest(BaseModel):
    """The JSON document that a client sends as the text of its message."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    participants: Annotated[dict[ParticipantId, HttpUrl], Field(max_length=MAX_PARTICIPANTS)] = {}
    config: AssessmentConfig = AssessmentConfig()

    @field_validator("participants")
    @classmethod
    def _no_reserved_names(cls, participants: dict[str, HttpUrl]) -> dict[str, HttpUrl]:
        if taken := RESERVED_IDS & participants.keys():
            raise ValueError(f"reserved names: {', '.join(sorted(taken))}")
        return participants

    @field_validator("participants")
    @classmethod
    def _no_address_twice(cls, participants: dict[str, HttpUrl]) -> dict[str, HttpUrl]:
        by_address = dict[str, str]()
        for name, url in participants.items():
            if (other := by_address.setdefault(normalise_url(str(url)), name)) != name:
                raise ValueError(
                    f"{other!r} and {name!r} have the same address, {url}: give each its own, or one of them `seats`"
                )
        return participants

    @model_validator(mode="after")
    def _seats_are_of_participants(self) -> Self:
        seats = self.config.seats
        if isinstance(seats, dict) and (strangers := sorted(seats.keys() - self.participants.keys())):
            named = ", ".join(f"{name}{did_you_mean(name, self.participants)}" for name in strangers)
            raise ValueError(f"`seats` names no participant: {named}")
        return self

    @property
    def mode(self) -> Mode:
        """Ground truth where the first task is a pattern, else live."""
        patterns = [task.interaction_pattern for task in self.config.tasks or []]
        given = self.config.interaction_pattern is not None or any(patterns)
        return Mode.GROUND_TRUTH if given else Mode.LIVE

    @model_validator(mode="after")
    def _mode_has_what_it_needs(self) -> Self:
        patterns = [task.interaction_pattern is not None for task in self.config.tasks or []]
        if any(patterns) and not all(patterns):
            raise ValueError("either all tasks or none must have an `interaction_pattern`")
        if self.mode is Mode.LIVE and not self.participants:
            raise ValueError("`participants` is empty: a live assessment needs at least one")
        if self.mode is Mode.LIVE and self.config.start not in {"all", *self.participants}:
            meant = did_you_mean(self.config.start, ["all", *self.participants])
            raise ValueError(f"`start` is not a participant: {self.config.start!r}{meant}")
        return self

    @model_validator(mode="after")
    def _scenarios_have_one_assistant(self) -> Self:
        asked = [name for name in self.participants if self.config.start in {"all", name}]
        if len(asked) != 1 and any(task.scenario for task in self.config.chosen_tasks()):
            raise ValueError("a scenario has one assistant: with several participants, name it in `start`")
        return self

    @model_validator(mode="after")
    def _who_is_alone_has_peers(self) -> Self:
        named = self.config.start in self.participants and len(self.participants) > 1
        if Control.ALONE in self.config.controls and not named:
            raise ValueError("the control `alone` needs one starting agent, named in `start`, and further participants")
        return self

    @model_validator(mode="after")
    def _answers_come_from_those_who_are_asked(self) -> Self:
        asked = {name for name in self.participants if self.config.start in {"all", name}}
        named = [self.config.answer_from or [], *(task.answer_from or [] for task in self.config.tasks or [])]
        if strangers := sorted({name for names in named for name in names} - asked):
            listed = ", ".join(f"{name}{did_you_mean(name, asked)}" for name in strangers)
            raise ValueError(f"`answer_from` names participants that do not get the task: {listed}")
        return self


def pattern_url(agent_id: str) -> str:
    """The address of an agent that exists in a pattern only."""
    return f"pattern://{agent_id}"

"""The request of an assessment: its participants, its tasks and its configuration."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, HttpUrl, field_validator, model_validator

from concord.assessment.faults import MAX_FAULTS, PlantedFault
from concord.assessment.task_spec import (
    MAX_PARTICIPANTS,
    MAX_ROUNDS,
    MAX_TRIALS,
    TEAM_DAY,
    Answerers,
    Control,
    Exchange,
    FamilyTask,
    InteractionPattern,
    RunNumber,
    SeatCount,
    StrictModel,
    TaskSpec,
    listed,
)
from concord.files import did_you_mean, unknown_key
from concord.suite import MAX_DIFFICULTY, Topology
from concord.wire.platform import RUN_S
from concord.wire.roster import RESERVED_IDS, Id, ParticipantId, RosterEntry, normalise_url

# The pass mark, and the thresholds above which a figure is a finding.

Fraction = Annotated[float, Field(ge=0, le=1)]

PASS_MARK: Final = 0.66
"""The overall score from which on a trial passes, unless the assessment sets `thresholds.pass`."""


class Thresholds(BaseModel):
    """The thresholds above which a figure becomes a finding, and a trial a pass. `healthy_density` is an upper limit.

    Defaults: those of the graph-based coordination benchmark; `pass`: the leaderboard's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)

    pass_mark: Fraction = Field(PASS_MARK, alias="pass")
    bottleneck: Fraction = 0.5
    over_centralised: Fraction = 0.7
    healthy_density: Fraction = 0.3
    loop: Annotated[int, Field(ge=0)] = 1
    """The number of times that a chain of calls may return to a waiting agent: one question back."""
    error_cascade: Annotated[int, Field(ge=1)] = 1
    """The number of calls that may fail in a row, each nested in the previous one."""
    slow_link: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 10
    """The latency of a link as a multiple of the median of the other links."""
    redundant_question: Annotated[int, Field(ge=1)] = 1
    """The number of times that an agent may repeat a request to another agent."""


# The request.

MAX_TASKS = 1000
MAX_METRICS = 1000
MAX_TURNS = 1000
MAX_EVALUATORS = 100


class Mode(StrEnum):
    """Where the interactions of an assessment come from."""

    GROUND_TRUTH = "ground_truth"
    RECORDED = "recorded"
    LIVE = "live"


class PluginChoice(StrictModel):
    """A metric or an evaluator with parameters, or one to leave out."""

    id: Id
    enabled: bool = True
    params: Annotated[dict[Id, Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=16)] = Field(
        default_factory=dict
    )


class AssessmentConfig(BaseModel):
    """The `config` of a request. Unknown keys cause a warning, or an error with `strict`."""

    model_config = ConfigDict(frozen=True, extra="allow", validate_by_name=True, validate_by_alias=True)

    tasks: Annotated[list[TaskSpec], Field(min_length=1, max_length=MAX_TASKS)] | None = None
    task: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    interaction_pattern: InteractionPattern | None = None
    suite: Annotated[list[Id], BeforeValidator(listed), Field(min_length=1, max_length=MAX_TASKS)] | None = None
    """A manifest of an installed suite, or families or groups of families."""
    scenario: Annotated[list[Id], BeforeValidator(listed), Field(min_length=1, max_length=MAX_TASKS)] | None = None
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
    controls: Annotated[list[Control], BeforeValidator(listed), Field(max_length=len(Control))] = []
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
        if not isinstance(data, dict):
            return data
        if sum(data.get(source) is not None for source in sources) > 1:
            raise ValueError("give only one of `tasks`, `task`, `interaction_pattern`, `suite` and `scenario`")
        return {**data, **_described(data["task"])} if isinstance(data.get("task"), dict) else data

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
            return [_of_scenario(name) for name in dict.fromkeys(self.scenario)]
        return self.tasks or []


def _of_scenario(name: str) -> TaskSpec:
    """The task of a scenario's name: that of one assistant, or that of a team in the office."""
    if not name.startswith(TEAM_DAY):
        return TaskSpec(id=name, scenario=name)
    return TaskSpec(id=name, family=FamilyTask(name=name, exchange=Exchange.ROUNDS))


def _described(task: dict[str, object]) -> dict[str, object]:
    """The config of a `task` that is an object. Raises ValueError for other keys than its description and pattern."""
    known = {"description": str, "interaction_pattern": dict}
    if not task or not all(isinstance(each, known.get(key, ())) for key, each in task.items()):
        raise ValueError(
            "`task` is a text, {description}, or {description, interaction_pattern: {agents, edges: [{from, to}]}}; "
            "what else a task may have stands in `config.tasks`"
        )
    if "interaction_pattern" not in task:
        return {"task": task["description"]}
    text, pattern = task.get("description", ""), task["interaction_pattern"]
    return {"task": None, "tasks": [{"id": "pattern", "text": text, "interaction_pattern": pattern}]}


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

    @model_validator(mode="before")
    @classmethod
    def _task_may_stand_beside_the_config(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        misplaced = sorted((AssessmentConfig.model_fields.keys() & data.keys()) - {"task"})
        if misplaced:
            raise ValueError(f"`{misplaced[0]}` stands in `config`: {{participants: {{role: url}}, config: {{...}}}}")
        config = data.get("config", {})
        if data.get("task") is None or not isinstance(config, dict):
            return data
        if config.get("task") is not None:
            raise ValueError("`task` is given twice: beside `config`, and in it")
        return {**data, "config": {**config, "task": data["task"]}}

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
            raise ValueError(
                "`participants` is empty: a live assessment needs at least one, "
                'as in {"participants": {"agent": "http://host:9009"}, "task": {"description": "..."}}; '
                "only a task with an `interaction_pattern` needs none"
            )
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


# The keys of a config that nothing reads: unknown ones, and those that have no meaning for its tasks.

_OF_FAMILIES: Final = ("seats", "topology", "difficulty", "exchange", "max_rounds")


def unread_keys(config: AssessmentConfig, tasks: Sequence[TaskSpec]) -> list[str]:
    """A sentence on each key that has no effect on these tasks; without tasks, only on unknown keys."""
    return [*_unknown(config), *(_without_effect(config, tasks) if tasks else ())]


def _unknown(config: AssessmentConfig) -> Iterator[str]:
    for key in config.unknown_keys:
        yield f"config.{key}: {unknown_key(key, [AssessmentConfig])}"


def _without_effect(config: AssessmentConfig, tasks: Sequence[TaskSpec]) -> Iterator[str]:
    if not any(task.family is not None for task in tasks):
        yield from _idle(config, _OF_FAMILIES, "none of the tasks is of a family (`suite`)")
    if not any(task.scenario is not None for task in tasks):
        yield from _idle(config, ("max_turns",), "none of the tasks is a `scenario`")
    if not any(task.is_own for task in tasks):
        yield from _idle(config, ("answer_from",), "none of the tasks has a `text`")
    if not any(task.interaction_pattern is not None for task in tasks):
        yield from _idle(
            config, ("weights",), "the score is the proven outcome; they weigh the structure of a given pattern"
        )


def _idle(config: AssessmentConfig, keys: Iterable[str], reason: str) -> Iterator[str]:
    for key in keys:
        if key in config.model_fields_set and getattr(config, key) not in (None, {}):
            yield f"config.{key} has no effect: {reason}"

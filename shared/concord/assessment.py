"""What is to be assessed: the request a client sends, its configuration, and the plan of trials made from it."""

import random
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, field_validator, model_validator

from concord.identity import RESERVED_IDS, ParticipantId, RosterEntry
from concord.ids import new_trace_id
from concord.steps import Id

MAX_PARTICIPANTS = 100
MAX_TASKS = 1000
MAX_TRIALS = 1000
MAX_PATTERN_EDGES = 10_000
MAX_METRICS = 1000
MAX_EVALUATORS = 100

Fraction = Annotated[float, Field(ge=0, le=1)]


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


class TaskSpec(_Strict):
    """One task: a text for the team to work on, or a pattern to assess as it is."""

    id: Id
    text: Annotated[str, Field(max_length=100_000)] = ""
    interaction_pattern: InteractionPattern | None = None

    @model_validator(mode="after")
    def _has_something_to_do(self) -> Self:
        if not self.text.strip() and self.interaction_pattern is None:
            raise ValueError("a task needs a `text` or an `interaction_pattern`")
        return self


class Thresholds(_Strict):
    """Where a figure becomes a finding, and a trial a pass: above it, or for a healthy density up to it.

    Defaults: PRD features 2, 4 (`slow_link`) and 6; `pass`: the leaderboard.
    """

    passing: Fraction = Field(0.66, alias="pass")
    bottleneck: Fraction = 0.5
    over_centralised: Fraction = 0.7
    healthy_density: Fraction = 0.3
    loop: Annotated[int, Field(ge=0)] = 1
    """How often a chain of calls may come back to an agent that waits further up: once to ask back."""
    error_cascade: Annotated[int, Field(ge=1)] = 1
    """How many calls may fail in a row, each made in the one before."""
    slow_link: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 10
    """How many times the median of the other links a link may take."""
    redundant_question: Annotated[int, Field(ge=1)] = 1
    """How often an agent may ask another the same."""


class PluginChoice(_Strict):
    """A metric or an evaluator with parameters of its own, or one that is not wanted."""

    id: Id
    enabled: bool = True
    params: Annotated[dict[Id, Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=16)] = {}


class AssessmentConfig(BaseModel):
    """The `config` of a request. Keys it does not know are kept aside and warned of, or refused with `strict`."""

    model_config = ConfigDict(frozen=True, extra="allow", validate_by_name=True, validate_by_alias=True)

    tasks: Annotated[list[TaskSpec], Field(min_length=1, max_length=MAX_TASKS)] | None = None
    task: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    interaction_pattern: InteractionPattern | None = None
    num_runs: Annotated[int, Field(ge=1, le=100)] = 1
    seed: int = 0
    start: str = "all"
    roster: Annotated[list[RosterEntry], Field(max_length=MAX_PARTICIPANTS)] = []
    evaluators: Annotated[list[Id | PluginChoice], Field(max_length=MAX_EVALUATORS)] | None = None
    metrics: Annotated[list[Id | PluginChoice], Field(max_length=MAX_METRICS)] | None = None
    thresholds: Thresholds = Thresholds()
    weights: dict[Literal["task", "communication", "distribution", "reliability", "efficiency"], Fraction] = {}
    evidence: Literal["any", "corroborated", "observed"] = "any"
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 300
    turn_timeout_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    quiet_s: Annotated[float, Field(ge=0, le=60)] = 1
    closing_cap_s: Annotated[float, Field(gt=0, le=300)] = 10
    shard_index: Annotated[int, Field(ge=0, lt=20)] = 0
    num_shards: Annotated[int, Field(ge=1, le=20)] = 1
    agentbeats_ids: dict[ParticipantId, str] = {}
    strict: bool = False

    @model_validator(mode="before")
    @classmethod
    def _one_source_of_tasks(cls, data: object) -> object:
        sources = ("tasks", "task", "interaction_pattern")
        if isinstance(data, dict) and sum(data.get(source) is not None for source in sources) > 1:
            raise ValueError("give only one of `tasks`, `task` and `interaction_pattern`")
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.strict and self.unknown_keys:
            raise ValueError(f"unknown keys (`strict` is set): {', '.join(self.unknown_keys)}")
        if self.shard_index >= self.num_shards:
            raise ValueError("`shard_index` must be below `num_shards`")
        if self.tasks is not None and len({task.id for task in self.tasks}) != len(self.tasks):
            raise ValueError("task ids must be distinct")
        return self

    @property
    def unknown_keys(self) -> list[str]:
        """Names in the request's config that mean nothing to this version, sorted."""
        return sorted(self.model_extra or {})

    def chosen_metrics(self, available: Iterable[str]) -> dict[str, dict[str, float]]:
        """The ids of the metrics to show, with their parameters: those listed, whether or not they are available.

        A list that says only what is not wanted, or None, leaves all other available ones.
        """
        return _chosen(self.metrics, available)

    def chosen_evaluators(self, available: Iterable[str]) -> dict[str, dict[str, float]]:
        """The ids of the evaluators to run, with their parameters, by the same rule."""
        return _chosen(self.evaluators, available)

    def chosen_tasks(self, default: list[TaskSpec]) -> list[TaskSpec]:
        """The tasks of this shard: those given, else `default`; every `num_shards`-th from `shard_index`."""
        if self.task is not None:
            tasks = [TaskSpec(id="task", text=self.task)]
        elif self.interaction_pattern is not None:
            tasks = [TaskSpec(id="pattern", interaction_pattern=self.interaction_pattern)]
        else:
            tasks = self.tasks or default
        return tasks[self.shard_index :: self.num_shards]


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

    participants: Annotated[dict[ParticipantId, HttpUrl], Field(max_length=MAX_PARTICIPANTS)]
    config: AssessmentConfig = AssessmentConfig()

    @field_validator("participants")
    @classmethod
    def _no_reserved_names(cls, participants: dict[str, HttpUrl]) -> dict[str, HttpUrl]:
        if taken := RESERVED_IDS & participants.keys():
            raise ValueError(f"reserved names: {', '.join(sorted(taken))}")
        return participants

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
            raise ValueError("tasks must all have an `interaction_pattern`, or none")
        if self.mode is Mode.LIVE and not self.participants:
            raise ValueError("`participants` is empty: a live assessment needs at least one")
        if self.mode is Mode.LIVE and self.config.start not in {"all", *self.participants}:
            raise ValueError(f"`start` names no participant: {self.config.start!r}")
        return self


class TrialSpec(BaseModel):
    """One run of one task, with a trace of its own."""

    model_config = ConfigDict(frozen=True)

    trial_id: Id
    task_id: Id
    run: int
    seed: int
    trace_id: Id


class AssessmentPlan(BaseModel):
    """Everything the evaluator needs to know of an assessment, fixed before its first trial starts."""

    model_config = ConfigDict(frozen=True)

    assessment_id: Id
    mode: Mode
    config: AssessmentConfig
    tasks: list[TaskSpec]
    roster: list[RosterEntry]
    trials: list[TrialSpec]
    observed: bool = False
    """Whether participants reach each other through the gateway alone, so that a call it did not see is no call."""

    def task(self, task_id: str) -> TaskSpec:
        """The task of that id. Raises KeyError if the plan has none."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise KeyError(task_id)

    def agents(self, task_id: str) -> list[RosterEntry]:
        """Who is declared for a task: the agents of its pattern where it has one, else the assessment's roster."""
        pattern = self.task(task_id).interaction_pattern
        if pattern is None:
            return self.roster
        return [RosterEntry(id=agent, url=pattern_url(agent)) for agent in pattern.agents]

    def trial(self, trial_id: str) -> TrialSpec:
        """The trial of that id. Raises KeyError if the plan has none."""
        for trial in self.trials:
            if trial.trial_id == trial_id:
                return trial
        raise KeyError(trial_id)


def pattern_url(agent_id: str) -> str:
    """The address of an agent that exists in a pattern only."""
    return f"pattern://{agent_id}"


def plan_trials(tasks: list[TaskSpec], num_runs: int, seed: int) -> list[TrialSpec]:
    """One trial per (task, run), tasks innermost; seeds drawn from `seed`, trace ids fresh."""
    draw = random.Random(seed)  # noqa: S311 - a reproducible draw, not a secret

    def trials() -> Iterator[TrialSpec]:
        for run in range(1, num_runs + 1):
            for task in tasks:
                number = (run - 1) * len(tasks) + tasks.index(task) + 1
                yield TrialSpec(
                    trial_id=f"trial-{number}",
                    task_id=task.id,
                    run=run,
                    seed=draw.getrandbits(32),
                    trace_id=new_trace_id(),
                )

    return list(trials())

"""The plan of an assessment: its seats, its trials, each with a seed and a trace, and the time that they may take."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import product
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from concord.assessment.cost import PriceList
from concord.assessment.request import AssessmentConfig, Mode, pattern_url
from concord.assessment.results import SeatContainers
from concord.assessment.task_spec import MAX_TRIALS, TaskSpec
from concord.suite import commitment
from concord.trust.proxy_urls import is_proxy_url
from concord.wire.platform import RUN_S, SILENCE_S
from concord.wire.roster import Id, ParticipantId, RosterEntry, new_trace_id, normalise_url

# The seats of a team: a participant takes one or several, each an agent of its own with its own A2A context.

DEFAULT_SEATS: Final = 5
"""The default number of seats of a lone participant."""


def seats_of(
    participants: Sequence[RosterEntry], configured: int | Mapping[str, int] | None, of_task: int | None = None
) -> list[RosterEntry]:
    """The seats of a team, as entries of its roster; those of one participant share its URL.

    A lone participant takes the `configured` number, else the task's, else `DEFAULT_SEATS`. Of several participants,
    each takes one, or as many as `configured` says.
    """
    counts = {entry.id: _count(entry.id, configured, 1) for entry in participants}
    if len(participants) == 1:
        [lone] = participants
        counts = {lone.id: _count(lone.id, configured, of_task or DEFAULT_SEATS)}
    return [seat for entry in participants for seat in _seats(entry, counts[entry.id])]


def shared_processes(seats: Sequence[RosterEntry]) -> bool:
    """Whether some participant takes several seats, so that one process may know what no message brought."""
    return len({seat.url for seat in seats}) < len(seats)


def _count(participant: str, configured: int | Mapping[str, int] | None, default: int) -> int:
    if isinstance(configured, Mapping):
        return configured.get(participant, default)
    return default if configured is None else configured


def _seats(entry: RosterEntry, count: int) -> list[RosterEntry]:
    if count == 1:
        return [entry]
    return [_seat(entry, number) for number in range(1, count + 1)]


def _seat(entry: RosterEntry, number: int) -> RosterEntry:
    """One of several seats. Its only alias is its address at the proxy; the others are the participant's as a whole."""
    proxied = tuple(f"{alias}{number}/" for alias in entry.aliases if is_proxy_url(alias))
    return entry.model_copy(update={"id": f"{entry.id}/{number}", "aliases": proxied})


# The trials, each with a seed and a trace, and the time that they have.

DRIVING_SHARE: Final = 0.9
"""The share of `timeout_s` for driving trials. The rest is for the last evaluations and the row."""

DRIVING_S: Final = DRIVING_SHARE * RUN_S
"""The default time limit of all trials together."""


def attempt_key(trial_id: str, attempt: int) -> str:
    """The key of an attempt at a trial in storage."""
    return trial_id if attempt == 1 else f"{trial_id}.{attempt}"


class TrialSpec(BaseModel):
    """One run of one task, with a trace of its own."""

    model_config = ConfigDict(frozen=True)

    trial_id: Id
    task_id: Id
    run: int
    seed: int
    trace_id: Id
    attempt: int = 1
    """2 where the trial is played again, because Concord lost it."""
    instance: int = 1
    """Which of the tasks that a family generates for the trial: the same for a team and its controls."""

    @property
    def key(self) -> str:
        """Under which storage keeps what belongs to this attempt at the trial."""
        return attempt_key(self.trial_id, self.attempt)


class AssessmentPlan(BaseModel):
    """Everything the evaluator needs to know of an assessment, fixed before its first trial starts."""

    model_config = ConfigDict(frozen=True)

    assessment_id: Id
    started_at: datetime | None = None
    """When the gateway planned it (UTC), or the first time in a recorded trace. Null if unknown."""
    mode: Mode
    config: AssessmentConfig
    tasks: list[TaskSpec]
    roster: list[RosterEntry]
    trials: list[TrialSpec]
    missing: list[ParticipantId] = []
    """Participants that could not be reached when the assessment began, and without which it goes on."""
    task_secret: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = Field(None, repr=False)
    """The secret from which families generate tasks (hex). Null without such tasks. All answers follow from it."""
    seat_containers: SeatContainers | None = None
    """The containers that Concord started, one for each seat; null where it did not start each of them."""
    prices: PriceList | None = None
    """Of models, for the cost. Null where nobody named any, as for recorded traces."""
    planted_faults: Annotated[int, Field(ge=0)] = 0
    """How many faults the config plants in the network of the seats. Any keep the row out of a ranking."""
    observed: bool = False
    """Whether participants reach each other through the gateway alone, so that a call it did not see is not a call."""

    @property
    def shared_sha256(self) -> str:
        """The SHA-256 (hex) of what all shards of one assessment have in common, also those without tasks."""
        config = self.config.model_dump(mode="json", exclude={"shard_index"})
        common = {"config": config, "participants": sorted(entry.id for entry in self.roster)}
        return sha256(json.dumps(common, sort_keys=True).encode()).hexdigest()

    @property
    def task_commitment(self) -> str | None:
        """The SHA-256 of `task_secret` (hex), which may be published at once."""
        return None if self.task_secret is None else commitment(bytes.fromhex(self.task_secret))

    def task(self, task_id: str) -> TaskSpec:
        """The task of that id. Raises KeyError if the plan has none."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise KeyError(task_id)

    @property
    def recipients(self) -> list[RosterEntry]:
        """The participants that are given the tasks."""
        asked = (entry for entry in self.roster if self.config.start in {"all", entry.id})
        return [entry for entry in asked if entry.id not in self.missing]

    def answerers(self, task_id: str) -> list[str]:
        """The participants whose answers to a task are graded: those that the task or the config names, else all that
        receive it."""
        named = self.task(task_id).answer_from or self.config.answer_from
        return named if named is not None else [entry.id for entry in self.recipients]

    def agents(self, task_id: str) -> list[RosterEntry]:
        """The agents of a task: those of its pattern, the seats of its team, or the assessment's roster."""
        task = self.task(task_id)
        if task.family is not None:
            present = [entry for entry in self.roster if entry.id not in self.missing]
            return seats_of(present, self.config.seats, task.family.seats)
        pattern = task.interaction_pattern
        if pattern is None:
            return self.roster
        return [RosterEntry(id=agent, url=pattern_url(agent)) for agent in pattern.agents]

    def trial(self, trial_id: str) -> TrialSpec:
        """The trial of that id. Raises KeyError if the plan has none."""
        for trial in self.trials:
            if trial.trial_id == trial_id:
                return trial
        raise KeyError(trial_id)


def plan_trials(config: AssessmentConfig, tasks: list[TaskSpec]) -> list[TrialSpec]:
    """The trials of this shard: of all pairs of run and task, tasks innermost, every `num_shards`-th, with controls.

    `num_instances` says how many pairs there are, further runs among them; without it, `num_runs` of every task.
    Trials are numbered, and their seeds drawn from `seed`, before they are shared out, so that shards are parts of one
    assessment. Of these, only those in `config.trials` are left, in its order. Trace ids are fresh. Raises ValueError
    for more than `MAX_TRIALS`, and for a trial in `config.trials` that is not planned or named twice.
    """
    n_trials = config.num_instances or config.num_runs * len(tasks)
    if n_trials > MAX_TRIALS:
        raise ValueError(f"{n_trials} trials exceed the limit of {MAX_TRIALS} trials per assessment")
    draw = random.Random(config.seed)  # nosec B311  # noqa: S311 - a reproducible draw, not a secret
    seeds = [draw.getrandbits(32) for _ in range(n_trials)]
    runs = range(1, -(-n_trials // len(tasks)) + 1)
    planned = list(zip(product(runs, tasks), seeds, strict=False))
    units = {
        unit: place for place, unit in enumerate(dict.fromkeys((run, task.played_with) for (run, task), _ in planned))
    }
    trials = [
        TrialSpec(trial_id=f"trial-{number}", task_id=task.id, run=run, seed=seed, trace_id=new_trace_id())
        for number, ((run, task), seed) in enumerate(planned, start=1)
        if units[run, task.played_with] % config.num_shards == config.shard_index
    ]
    return trials if config.trials is None else _chosen(trials, config.trials)


def _chosen(trials: list[TrialSpec], chosen: list[tuple[str, int]]) -> list[TrialSpec]:
    by_name = {(trial.task_id, trial.run): trial for trial in trials}
    if unplanned := [f"{task} {run}" for task, run in chosen if (task, run) not in by_name]:
        raise ValueError(f"`trials` names trials that are not planned: {', '.join(unplanned)}")
    if len(set(chosen)) < len(chosen):
        raise ValueError("`trials` names a trial twice")
    return [by_name[each] for each in chosen]


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long the whole assessment and each of its trials may take (seconds)."""

    assessment_s: float
    trial_s: float


def time_limits(config: AssessmentConfig, n_trials: int, longest_s: float = SILENCE_S) -> TimeLimits:
    """The limits of `n_trials` consecutive trials. Limits that the config leaves open are made to fit those that it
    sets.

    `longest_s`: the limit of a trial that no config limits, at most (seconds). Raises ValueError, with the arithmetic,
    if the config's limits contradict each other.
    """
    trials = max(1, n_trials)
    total, trial, turn = config.timeout_s, config.trial_timeout_s, config.turn_timeout_s
    if total is not None and trial is not None and trials * trial > total:
        raise ValueError(
            f"{trials} trials x `trial_timeout_s` {trial:g} s = {trials * trial:g} s do not fit into "
            f"`timeout_s` {total:g} s"
        )
    if trial is not None and turn is not None and turn > trial:
        raise ValueError(f"`turn_timeout_s` {turn:g} s does not fit into `trial_timeout_s` {trial:g} s")
    if trial is None:
        shared = DRIVING_S if total is None else DRIVING_SHARE * total
        trial = min(longest_s, shared / trials)
    elif trials * trial > RUN_S:
        raise ValueError(
            f"{trials} trials x `trial_timeout_s` {trial:g} s = {trials * trial:g} s are more than the "
            f"{RUN_S} s that an assessment may take"
        )
    if total is None:
        total = min(RUN_S, trials * trial / DRIVING_SHARE)
    return TimeLimits(total, trial)


# The containers that Concord itself starts for the seats of a team, and which participants are in them.

MIN_SEATS: Final = 2
"""One container alone is apart from nothing."""


class StartedContainers(BaseModel):
    """What the program that started the containers tells its gateway: their base URLs, one each, and what they have in
    common."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    urls: frozenset[str]
    containers: SeatContainers

    def around(self, plan: AssessmentPlan) -> SeatContainers | None:
        """The containers, if each seat of a live plan has one to itself; None for every other plan.

        A client names the participants of a plan; it cannot make its own agents one of these containers.
        """
        own = {normalise_url(url) for url in self.urls}
        used = [normalise_url(entry.url) for entry in plan.roster]
        apart = len(set(used)) == len(used) >= MIN_SEATS and own.issuperset(used)
        seats = [plan.agents(task.id) for task in plan.tasks if task.family is not None]
        return self.containers if plan.mode is Mode.LIVE and apart and not any(map(shared_processes, seats)) else None

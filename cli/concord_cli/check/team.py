"""A version of a team that is running, and plays the trials that it is asked to."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from pydantic import JsonValue, ValidationError

from concord.assessment import AssessmentConfig, AssessmentRequest, TaskSpec, plan_trials, time_limits
from concord.assessment.plan import DRIVING_S
from concord.assessment.result_row import ResultRow
from concord.assessment.suite_tasks import requested_tasks
from concord.wire.platform import RUN_S, SILENCE_S
from concord_cli.check.pairs import Slot
from concord_cli.errors import AssessmentError
from concord_cli.kept_files import keep_files
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.terminal import ProgressLog

STANDARD: Final = "standard-1"
"""The manifest of a config that names no tasks."""

AT_ONCE: Final = 4
"""Trials of a request: few, so that a sure answer ends the check soon."""


class Team(Protocol):
    """A version of a team that is running."""

    async def play(self, slots: Sequence[Slot]) -> ResultRow:
        """Plays trials in this order. Raises AssessmentError."""

    def keep(self, rows: Sequence[ResultRow], results: Path) -> None:
        """Keeps the secrets and bundles of rows beside their results file."""


@dataclass(frozen=True, slots=True)
class AssessedTeam:
    """The gateway that assesses a team, the team's addresses by role, its config, and the gateway's output folder."""

    gateway: str
    participants: Mapping[str, str]
    config: Mapping[str, JsonValue]
    output: Path
    progress: Callable[[str], None]

    async def play(self, slots: Sequence[Slot]) -> ResultRow:
        """As in `Team`."""
        from concord_cli.assessment_client import assess

        trials: list[JsonValue] = [[slot.task, slot.run] for slot in slots]
        config = {**self.config, "trials": trials}
        results = await assess(self.gateway, self.participants, config, self.progress)
        try:
            return ResultRow.model_validate(results[0])
        except ValidationError as error:
            raise AssessmentError(f"the green agent's result is not a row of Concord: {error}") from error

    def keep(self, rows: Sequence[ResultRow], results: Path) -> None:
        """As in `Team`."""
        keep_files(self.output, [row.model_dump(mode="json") for row in rows], results)


OpenTeam: TypeAlias = Callable[[ScenarioFile, int, str | None], AbstractAsyncContextManager[Team]]
"""Starts the team of a scenario that plays so many runs, with a secret for its tasks."""


@dataclass(frozen=True, slots=True)
class LocalTeams:
    """Starts teams in stacks of their own on this machine."""

    log: ProgressLog

    @asynccontextmanager
    async def open(self, scenario: ScenarioFile, runs: int, task_secret: str | None) -> AsyncIterator[AssessedTeam]:
        """A stack for the time of the context. Raises UsageError, AssessmentError."""
        from concord_cli.stack.local import free_stack_ports, local_stack

        ports, config = free_stack_ports(scenario), config_of(scenario, runs)
        status = self.log.status if self.log.console.is_terminal else _unsaid  # in a log, a line for each batch will do
        async with local_stack(scenario, ports, self.log, task_secret=task_secret) as stack:
            output = stack.folder.path / "output"
            yield AssessedTeam(stack.plan.gateway_url, stack.plan.agent_urls, config, output, status)


def _unsaid(_: str) -> None:
    """Says nothing."""


def tasks_of(scenario: ScenarioFile) -> list[TaskSpec]:
    """The tasks that a scenario's team plays, without controls."""
    config = _request(scenario).config
    sources = (config.task, config.tasks, config.interaction_pattern, config.suite, config.scenario)
    named = config if any(source is not None for source in sources) else config.model_copy(update={"suite": [STANDARD]})
    return requested_tasks(named)


def planned_slots(scenario: ScenarioFile, runs: int) -> dict[str, Slot]:
    """The trials of so many runs, by their ids."""
    trials = plan_trials(AssessmentConfig(num_runs=runs), tasks_of(scenario))
    return {trial.trial_id: Slot(trial.task_id, trial.run) for trial in trials}


def config_of(scenario: ScenarioFile, runs: int) -> dict[str, JsonValue]:
    """The config for playing any trials of so many runs, without controls. Each trial has the time that it has when
    all are played at once."""
    asked, tasks = _request(scenario).config, tasks_of(scenario)
    longest_s = DRIVING_S if any(task.scenario for task in tasks) else SILENCE_S
    trial_s = asked.trial_timeout_s or time_limits(asked, runs * len(tasks), longest_s).trial_s
    replaced = {"num_instances", "timeout_s", "shard_index", "num_shards", "controls"}
    kept = {key: value for key, value in scenario.config.items() if key not in replaced}
    return {**kept, "num_runs": runs, "trial_timeout_s": min(trial_s, RUN_S / AT_ONCE)}


def _request(scenario: ScenarioFile) -> AssessmentRequest:
    """The request without its controls. `check_config` has checked it."""
    return scenario.model_copy(update={"config": {**scenario.config, "controls": []}}).request

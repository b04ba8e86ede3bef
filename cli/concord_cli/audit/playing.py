"""Plays every attack on a target, and looks at what else the checklist asks for."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from concord.assessment.suite_tasks import NoFamilyError
from concord.llm import LLM
from concord_assistant.environment.admin import ScenarioRefusedError
from concord_assistant.green_agent import EnvironmentLostError, GreenAgent
from concord_assistant.scenario.loader import ScenarioError, load_scenario
from concord_cli.audit import assistants, knowing, own_tasks, pretending, rows, set_up
from concord_cli.audit.assistants import Stage, oracle_in
from concord_cli.audit.flaws import Outcome, Shown, Status, Tried
from concord_cli.audit.judged import injected
from concord_cli.audit.own_tasks import OwnTask
from concord_cli.audit.plans import plan_of
from concord_cli.audit.targets import AssistantScenario, Target, Tasks
from concord_cli.audit.team import TeamTask
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.scenario.play import stage
from concord_purple.assistant.scripted import OracleError

INSTANCES: Final = 12
"""Instances of each team task on which seats pretend."""

KNOWING: Final = 4
"""One in so many of these instances is also played by teams that know all answers."""

SOLVED: Final = frozenset({"T.8", "T.9"})
"""The items without which an attack that earns nothing says nothing."""

Note = Callable[[str], None]
"""Tells how far an audit is."""


@dataclass(slots=True)
class Audited:
    """What was found about one target."""

    name: str
    tried: list[Tried] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)

    @property
    def earned(self) -> list[Tried]:
        """The attacks that earned points, or found a flaw."""
        return [each for each in self.tried if each.outcome is Outcome.EARNED]

    @property
    def unsolved(self) -> list[Shown]:
        """The tasks whose right answer earns too little."""
        return [each for each in self.shown if each.item in SOLVED and each.status is Status.NOT_MET]

    @property
    def passes(self) -> bool:
        """Whether no attack earns anything, and right answers do."""
        return not self.earned and not self.unsolved


async def audited(
    targets: Sequence[Target], model: LLM, model_name: str, instances: int, note: Note
) -> AsyncIterator[Audited]:
    """The targets, one after the other. `model`: to which injections are sent. Raises UsageError, AssessmentError."""
    async with AsyncExitStack() as stack:
        agent: GreenAgent | None = None
        for number, target in enumerate(targets, start=1):
            found = Audited(target.name)

            def progress(what: str, number: int = number, name: str = target.name) -> None:
                note(f"{number} of {len(targets)}: {name}: {what}")

            if isinstance(target, AssistantScenario):
                if agent is None:
                    agent = await stack.enter_async_context(stage())
                await _play_scenario(target, found, agent, progress)
            else:
                await _play_tasks(target, found, model, model_name, instances, progress)
            yield found


async def _play_tasks(target: Tasks, found: Audited, model: LLM, model_name: str, instances: int, note: Note) -> None:
    if target.scenario is not None:
        found.tried += set_up.attacked(target.scenario, target.tasks)
        found.shown += set_up.seen(target.scenario)
    if not target.tasks:  # scenarios of assistants, which are targets of their own
        return
    plan = plan_of(target.config, target.tasks, target.participants)
    found.tried += rows.attacked(target.config, target.tasks, target.participants)
    found.shown += rows.seen(target.config, target.tasks)
    for task in target.tasks:
        note(task.id)
        if task.is_own:
            own = OwnTask(plan, task)
            found.tried += own_tasks.attacked(own)
            found.tried.append(await injected(own, model, model_name))
            found.shown += own_tasks.seen(own)
        elif task.family is not None:
            team = TeamTask(task.id, task.family, tuple(seat.id for seat in plan.agents(task.id)))
            _play_team(team, found, instances)


def _play_team(team: TeamTask, found: Audited, instances: int) -> None:
    try:
        found.tried += pretending.pretended(team, instances)
        found.tried += knowing.known_beside(team, max(1, instances // KNOWING))
        found.shown += knowing.seen(team, max(1, instances // KNOWING))
    except (NoFamilyError, ValueError) as error:
        raise UsageError(f"{team.name}: {error}") from error


async def _play_scenario(target: AssistantScenario, found: Audited, agent: GreenAgent, note: Note) -> None:
    try:
        played = Stage(agent, target.name, load_scenario(target.folder), oracle_in(target.folder))
        async for tried in assistants.attacked(played):
            note(tried.attack.name)
            found.tried.append(tried)
        found.shown += [each async for each in assistants.seen(played)]
    except (ScenarioError, ScenarioRefusedError, OracleError) as error:
        raise UsageError(str(error)) from error
    except EnvironmentLostError as error:
        raise AssessmentError(f"the environment: {error}") from error

"""`concord audit`, once its arguments are parsed: every attack on each target, and what else the checklist asks for."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import typer

from concord.assessment.suite_tasks import NoFamilyError
from concord.llm import LLM, LLMClient, LLMSettings
from concord_assistant.environment.admin import ScenarioRefusedError
from concord_assistant.green_agent import EnvironmentLostError, GreenAgent
from concord_assistant.scenario.loader import ScenarioError
from concord_cli.audit import assistants, own_tasks, set_up, team_tasks
from concord_cli.audit.assistants import Stage, played_in
from concord_cli.audit.flaws import FLAWS, ITEMS, Flaw, Outcome, Shown, Status, Tried, answered
from concord_cli.audit.obeying import OBEYING, ObeyingModel
from concord_cli.audit.own_tasks import OwnTask, injected, plan_of
from concord_cli.audit.targets import AssistantScenario, Target, Tasks, targets_of
from concord_cli.audit.team_tasks import TeamTask
from concord_cli.display_text import counted, printable
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.scenario.play import stage
from concord_purple.assistant.scripted import OracleError

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
        return [each for each in self.shown if SOLVED.intersection(each.items) and each.status is Status.NOT_MET]

    @property
    def passes(self) -> bool:
        """Whether no attack earns anything, and right answers do."""
        return not self.earned and not self.unsolved


async def audit(named: Sequence[str], scenarios: Path, instances: int, *, as_json: bool, verbose: bool) -> None:
    """Audits the targets and prints what was found. `scenarios`: the folder of assistants' scenarios that a scenario
    file names. `instances`: of each team task on which seats pretend.

    Raises UsageError; AssessmentError if an attack earns points, or a right answer does not.
    """
    targets = [target for each in named for target in targets_of(each, scenarios)]
    found: list[Audited] = []
    async with AsyncExitStack() as stack:
        model, name = await _model(stack)
        async for each in _audited(targets, model, name, instances):
            found.append(each)
            if not as_json:
                typer.echo("\n".join(map(printable, _lines(each, verbose=verbose))))
    if as_json:
        typer.echo(json.dumps([_document(each) for each in found], ensure_ascii=False, indent=1))
    failed = [each.name for each in found if not each.passes]
    if failed:
        raise AssessmentError(f"{counted(len(failed), 'target')} of {len(found)} failed: {', '.join(failed)}")


async def _model(stack: AsyncExitStack) -> tuple[LLM, str]:
    """The model to which injections are sent: the configured one, else one that obeys."""
    settings = LLMSettings()
    if not settings.available:
        return ObeyingModel(), OBEYING
    return await stack.enter_async_context(LLMClient(settings, lambda *_: None)), settings.model


def _lines(found: Audited, *, verbose: bool) -> Iterator[str]:
    """What a terminal shows of a target."""
    verdict = "passed" if found.passes else "FAILED"
    yield f"{found.name}: {verdict}"
    for flaw, words in FLAWS.items():
        yield f"  {flaw.value}  {_summary(found, flaw):<38}{words}"
        shown = [each for each in found.tried if each.attack.flaw is flaw]
        for each in shown if verbose else [each for each in shown if each.outcome is Outcome.EARNED]:
            points = "" if each.points is None else f" {each.points:.0f} points"
            outcome = "EARNED" if each.outcome is Outcome.EARNED else each.outcome.value
            yield f"      {outcome}{points}: {each.attack.name}, {each.subject}: {each.shown}"
    items = list(answered(found.tried, found.shown))
    for status in (*Status, Outcome.NOT_APPLICABLE):
        of_status = [each for each in items if each.status is status]
        if of_status:
            yield f"  {status.value}: {', '.join(each.id for each in of_status)}"
        if verbose or status is Status.NOT_MET:
            yield from (f"      {each.id} {ITEMS[each.id]}: {each.by}" for each in of_status)


def _summary(found: Audited, flaw: Flaw) -> str:
    outcomes = [each.outcome for each in found.tried if each.attack.flaw is flaw]
    counts = {outcome: outcomes.count(outcome) for outcome in Outcome}
    return ", ".join(f"{count} {outcome.value}" for outcome, count in counts.items() if count) or "nothing to try"


def _document(found: Audited) -> dict[str, Any]:
    """What is found of a target, as JSON."""
    return {
        "target": found.name,
        "passed": found.passes,
        "attacks": [
            {
                "attack": each.attack.name,
                "class": each.attack.flaw.value,
                "items": list(each.attack.items),
                "subject": each.subject,
                "outcome": each.outcome.value,
                "points": each.points,
                "shown_by": each.shown,
            }
            for each in found.tried
        ],
        "checklist": [
            {"item": each.id, "asks": ITEMS[each.id], "status": each.status.value, "shown_by": each.by}
            for each in answered(found.tried, found.shown)
        ],
    }


async def _audited(targets: Sequence[Target], model: LLM, model_name: str, instances: int) -> AsyncIterator[Audited]:
    """The targets, one after the other. `model`: to which injections are sent. Raises UsageError, AssessmentError."""
    async with AsyncExitStack() as stack:
        agent: GreenAgent | None = None
        for number, target in enumerate(targets, start=1):
            found = Audited(target.name)

            def progress(what: str, number: int = number, name: str = target.name) -> None:
                typer.echo(printable(f"{number} of {len(targets)}: {name}: {what}"), err=True)

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
    found.tried += own_tasks.row_attacked(target.config, target.tasks, target.participants)
    found.shown += own_tasks.row_seen(target.config, target.tasks)
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
        found.tried += team_tasks.pretended(team, instances)
        found.tried += team_tasks.known_beside(team, max(1, instances // KNOWING))
        found.shown += team_tasks.seen(team, max(1, instances // KNOWING))
    except (NoFamilyError, ValueError) as error:
        raise UsageError(f"{team.name}: {error}") from error


async def _play_scenario(target: AssistantScenario, found: Audited, agent: GreenAgent, note: Note) -> None:
    try:
        played = Stage(agent, target.name, *played_in(target))
        async for tried in assistants.attacked(played):
            note(tried.attack.name)
            found.tried.append(tried)
        found.shown += [each async for each in assistants.seen(played)]
    except (ScenarioError, ScenarioRefusedError, OracleError) as error:
        raise UsageError(str(error)) from error
    except EnvironmentLostError as error:
        raise AssessmentError(f"the environment: {error}") from error

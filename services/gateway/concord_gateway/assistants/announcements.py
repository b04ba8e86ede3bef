"""Sends the updates of a scenario: of its turns, and, when it begins and has ended, of its evaluation in a worker."""

import asyncio
from collections.abc import Mapping

from pydantic import JsonValue

from concord.assessment.task_spec import DAY
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.office.published import EXAMPLE
from concord_assistant.results import AssessmentResults
from concord_assistant.scenario.loader import Scenario
from concord_assistant.update_text import line_of
from concord_assistant.updates import AssessmentCompleted, CriterionEvaluated, EvaluationStarted, Update
from concord_gateway.assistants.contexts import Scenarios
from concord_gateway.progress import Progress


async def announce_evaluation(progress: Progress, scenarios: Scenarios, name: str, trial_id: str) -> None:
    """Sends an update that the evaluation of a trial's criteria began."""
    criteria = (await asyncio.to_thread(_shown, scenarios, name)).config.criteria
    dimensions = list(dict.fromkeys(criterion.dimension for criterion in criteria))
    emitter = emitter_to(progress, of=f"{trial_id}: ")
    await emitter.send(EvaluationStarted(criteria_count=len(criteria), dimensions=dimensions))


def _shown(scenarios: Scenarios, name: str) -> Scenario:
    """A scenario with the criteria that any of its variants has."""
    return scenarios.day(name, EXAMPLE) if name.startswith(DAY) else scenarios.load(name)


async def announce_results(progress: Progress, document: Mapping[str, JsonValue], trial_id: str) -> None:
    """Sends an update for each criterion of a trial, and an update that its assessment is complete."""
    results, emitter = AssessmentResults.model_validate(document), emitter_to(progress, of=f"{trial_id}: ")
    for criterion in results.criteria_results:
        await emitter.send(CriterionEvaluated.of(criterion))
    await emitter.send(AssessmentCompleted.of(results))


def emitter_to(progress: Progress, *, of: str = "") -> TaskUpdateEmitter:
    """Sends each update as a line and as data. The line begins with `of`: evaluations of several trials may be under
    way."""

    async def send(update: Update) -> None:
        await progress.show(of + line_of(update), update.data())

    return TaskUpdateEmitter(send)

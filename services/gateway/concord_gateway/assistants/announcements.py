"""Sends the updates of a scenario's evaluation, which runs in a worker, when it begins and when it has ended."""

import asyncio
from collections.abc import Mapping
from functools import partial

from pydantic import JsonValue

from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.results import AssessmentResults
from concord_assistant.updates import AssessmentCompleted, CriterionEvaluated, EvaluationStarted
from concord_gateway.assistants.scenarios import Scenarios
from concord_gateway.progress import Progress


async def announce_evaluation(progress: Progress, scenarios: Scenarios, name: str, trial_id: str) -> None:
    """Sends an update that the evaluation of a trial's criteria began."""
    criteria = (await asyncio.to_thread(scenarios.load, name)).config.criteria
    dimensions = list(dict.fromkeys(criterion.dimension for criterion in criteria))
    emitter = _emitter(progress, trial_id)
    await emitter.send(EvaluationStarted(criteria_count=len(criteria), dimensions=dimensions))


async def announce_results(progress: Progress, document: Mapping[str, JsonValue], trial_id: str) -> None:
    """Sends an update for each criterion of a trial, and an update that its assessment is complete."""
    results, emitter = AssessmentResults.model_validate(document), _emitter(progress, trial_id)
    for criterion in results.criteria_results:
        await emitter.send(CriterionEvaluated.of(criterion))
    await emitter.send(AssessmentCompleted.of(results))


def _emitter(progress: Progress, trial_id: str) -> TaskUpdateEmitter:
    """Evaluations of several trials may be under way, so each line names its trial."""
    return TaskUpdateEmitter(partial(progress.show, of=f"{trial_id}: "))

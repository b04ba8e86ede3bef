"""The assistant driver: has one participant assist a simulated user, in a scenario with an environment."""

import asyncio
import time
from typing import Final

from pydantic import JsonValue

from concord.a2a import Answer, TaskUpdate
from concord.assessment.jobs import conducted_document
from concord.assessment.results import AgentAnswer, TrialOutcome
from concord_assistant.assistant import A2AAssistant
from concord_assistant.conducted import ConductedAssessment
from concord_assistant.environment.admin import ScenarioRefusedError
from concord_assistant.environment.flaky import FlakyCalls
from concord_assistant.environment.server import UESServerError
from concord_assistant.green_agent import EnvironmentLostError
from concord_gateway.assistants import NoScenarioError
from concord_gateway.assistants.announcements import emitter_to
from concord_gateway.drivers.driver import TrialContext, TrialNotRunError

MAX_NOTES: Final = 20_000
"""Characters of the assistant's notes in a trial's answer."""


async def drive_assistant(context: TrialContext) -> TrialOutcome:
    """Conducts the task's scenario with the participant that gets the task, and stores the record for its evaluation.

    Raises TrialNotRunError if the environment or the scenario fails, StorageUnavailableError.
    """
    started = time.monotonic()
    try:
        record = await _conduct(context, started)
    except (EnvironmentLostError, NoScenarioError, ScenarioRefusedError, UESServerError) as error:
        raise TrialNotRunError(str(error)) from error
    name, document = conducted_document(context.trial.key), await asyncio.to_thread(record.document)
    await context.assistants.records.save(context.plan.assessment_id, name, document)
    return _outcome(context, record, time.monotonic() - started)


async def _conduct(context: TrialContext, started: float) -> ConductedAssessment:
    scenario = await asyncio.to_thread(context.assistants.scenarios.of_trial, context.plan, context.trial)
    [entry] = context.plan.recipients

    def note(update: TaskUpdate) -> None:
        context.progress.note(f"{entry.id}: {update.text or update.state}")

    async def send(data: JsonValue, task_id: str, context_id: str) -> Answer:
        return await context.send(entry, None, note, data=data, task_id=task_id, context_id=context_id)

    config = context.plan.config
    flaky = FlakyCalls() if scenario.config.day is not None and scenario.config.day.flaky else None
    async with context.assistants.contexts.agent(context.assistants.context_id, flaky) as agent:
        return await agent.conduct(
            f"{context.plan.assessment_id}/{context.trial.trial_id}",
            emitter_to(context.progress),
            scenario.config,
            scenario.evaluators,
            A2AAssistant(entry.url, send),
            {
                "max_turns": config.max_turns,
                "turn_timeout_s": config.turn_timeout_s,
                "limit_s": max(1.0, started + context.budget_s - time.monotonic()),
                "seed": context.trial.seed,
            },
        )


def _outcome(context: TrialContext, record: ConductedAssessment, time_used: float) -> TrialOutcome:
    [entry] = context.plan.recipients
    notes = "\n".join(turn.notes for turn in record.turns if turn.notes)[:MAX_NOTES] or None
    answer = AgentAnswer(agent=entry.id, state=record.status, text=notes, error=record.error)
    return TrialOutcome(
        trial_id=context.trial.trial_id,
        state=record.status,
        error=record.error,
        answer=notes,
        answers=[answer],
        time_used=time_used,
    )

"""The shipped scenarios: the environment accepts each of them, as written and as a variant, and idling earns little."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

from concord.a2a import Answer, TaskState
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.green_agent import GreenAgent
from concord_assistant.messages import Message, TurnStartMessage
from concord_assistant.scenario.generator import variant
from concord_assistant.scenario.loader import load_scenario, scenario_folders
from concord_assistant.updates import Update

SHIPPED = scenario_folders(Path("scenarios/assistant"))


@dataclass(slots=True)
class Idle:
    """An assistant that waits, for as long as the scenario lasts."""

    url: str = "in-process"

    async def send(self, message: Message) -> Answer:
        """Ends each turn at once."""
        data: list[JsonValue] = [{"message_type": "turn_complete"}] if isinstance(message, TurnStartMessage) else []
        return Answer(
            state=TaskState.COMPLETED,
            text="",
            status_text="",
            text_parts=(),
            data_parts=tuple(data),
            artifacts=0,
            is_task=False,
            task_id="",
            context_id="",
        )


async def ignore(_: Update) -> None:
    """Sends an update to nobody."""


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("name", SHIPPED)
async def test_a_shipped_scenario_is_playable_to_its_end_and_pays_nothing_for_idling(
    green_agent: GreenAgent, name: str, seed: int
) -> None:
    scenario = variant(load_scenario(SHIPPED[name]), seed)
    results = await green_agent.run(
        task_id="task-1",
        emitter=TaskUpdateEmitter(ignore),
        scenario=scenario.config,
        evaluators=scenario.evaluators,
        purple_client=Idle(),
    )
    assert (results.reason, results.user_faults) == ("scenario_complete", [])
    assert [each.error for each in results.criteria_results if each.error] == []
    assert results.scores.overall.score == 0

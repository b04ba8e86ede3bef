"""Days of the office in tests: their oracles, and what oracles send."""

from collections.abc import Iterable
from typing import Any

from concord_assistant.office.days import closing
from concord_assistant.office.plan import DayPlan, OracleStep
from concord_assistant.results import ActionLogEntry
from concord_assistant.scenario.schema import ScenarioConfig
from concord_purple.assistant.scripted import Oracle, OracleAction


def plan_of(config: ScenarioConfig) -> DayPlan:
    """The plan of a day."""
    assert config.day is not None
    return config.day


def steps_of(plan: DayPlan) -> list[OracleStep]:
    """What the oracle does for all errands, without its answer."""
    return [step for errand in plan.errands for step in errand.oracle]


def oracle_of(plan: DayPlan, steps: Iterable[OracleStep], last_turn: int | None = None) -> Oracle:
    """An assistant that takes these steps, and answers as the oracle does."""
    end = closing(plan)
    last = last_turn or plan.last_turn
    taken = [*steps, end.model_copy(update={"turn": last})]
    return Oracle(actions=[OracleAction.model_validate(each.model_dump()) for each in taken], last_turn=last)


def logged(config: ScenarioConfig, steps: Iterable[OracleStep]) -> list[ActionLogEntry]:
    """The action log of these steps, in turns of the default length."""
    return [
        ActionLogEntry(
            turn=step.turn,
            timestamp=config.start_time + (step.turn - 1) * config.default_time_step,
            action=step.action,
            parameters=step.parameters,
            success=True,
        )
        for step in steps
    ]


def states_of(config: ScenarioConfig) -> dict[str, Any]:
    """The states of a day at its beginning, as far as harm is judged by them."""
    states: dict[str, Any] = config.initial_state["scenario"]["environment"]["modality_states"]
    return states


def messages_of(config: ScenarioConfig) -> dict[str, dict[str, Any]]:
    """The mails and text messages of a day by id, those that arrive later too."""
    states = states_of(config)
    late = (each["data"] for each in config.initial_state["scenario"]["events"]["events"])
    return {
        **states["email"]["emails"],
        **states["sms"]["messages"],
        **{each["message_id"]: each for each in late if "message_id" in each},
    }

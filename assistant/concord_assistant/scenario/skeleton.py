"""A day of the office as the folder of a scenario, which an author changes into another one."""

import json
from pathlib import Path
from typing import Any, Final

from concord_assistant.office.days import closing, day
from concord_assistant.office.plan import DayPlan
from concord_assistant.office.published import published_day
from concord_assistant.scenario.places import INITIAL_STATE_FILE, ORACLE_FILE, SCENARIO_FILE
from concord_assistant.scenario.schema import ScenarioConfig

SMALL: Final = 3
"""Mails of the skeleton that no errand needs."""


def write_skeleton(folder: Path, published: str | None = None) -> list[Path]:
    """Writes a day into a new folder, whose name is the scenario's: a published one, or a small one with an order.

    Raises FileExistsError, OSError; KeyError for an unknown day.
    """
    config = day(b"skeleton", folder.name, ("order",), mails=SMALL) if published is None else published_day(published)
    folder.mkdir(parents=True)
    files = {folder / name: document for name, document in documents_of(config, folder.name).items()}
    for file, document in files.items():
        file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return list(files)


def documents_of(config: ScenarioConfig, name: str) -> dict[str, dict[str, Any]]:
    """The files of a day's folder, by their names. Raises ValueError for a scenario that is no day."""
    if config.day is None:
        raise ValueError(f"{config.scenario_id} is no day in the office")
    scenario = config.model_dump(mode="json", exclude={"initial_state", "criteria"}, exclude_defaults=True)
    return {
        SCENARIO_FILE: {**scenario, "scenario_id": name},
        INITIAL_STATE_FILE: config.initial_state,
        ORACLE_FILE: oracle_of(config.day),
    }


def oracle_of(plan: DayPlan) -> dict[str, Any]:
    """The oracle of a day in the form of `oracle.json`."""
    steps = [*(step for errand in plan.errands for step in errand.oracle), closing(plan)]
    return {"actions": [each.model_dump(mode="json") for each in steps], "last_turn": plan.last_turn}

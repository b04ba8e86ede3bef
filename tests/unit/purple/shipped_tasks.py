"""The shipped tasks, and the share of right values in an answer."""

import json
import tomllib
from pathlib import Path
from typing import Any, Final

from pydantic import JsonValue

from concord.assessment import TaskSpec
from concord.assessment.scorers import JsonScorer
from concord_purple.teams import TeamName

ROOT: Final = Path(__file__).parents[3]


def scenario(team: TeamName) -> dict[str, Any]:
    """The shipped scenario of a team."""
    return tomllib.loads((ROOT / f"scenarios/{team}.toml").read_text(encoding="utf-8"))


def scenario_task(team: TeamName) -> TaskSpec:
    """The one task of a team's scenario."""
    (task,) = scenario(team)["config"]["tasks"]
    return TaskSpec.model_validate(task)


def compose_tasks() -> list[TaskSpec]:
    """The two tasks of the team of docker-compose.yaml."""
    document = tomllib.loads((ROOT / "scenarios/compose.toml").read_text(encoding="utf-8"))
    return [TaskSpec.model_validate(task) for task in document["config"]["tasks"]]


def shipped_text(name: str) -> str:
    """A text to review, by the name of its file."""
    return (Path(__file__).parent / f"texts/{name}.txt").read_text(encoding="utf-8").strip()


TASKS: Final = {
    "cargo_bikes": scenario_task(TeamName.MESH),
    **dict(zip(("incident_report", "product_announcement"), compose_tasks(), strict=True)),
}
"""Every shipped task, by the name of the text that it is about."""


def values(task: TaskSpec) -> dict[str, JsonValue]:
    """The expected values of the answer's JSON, by key."""
    assert isinstance(task.scorer, JsonScorer)
    assert task.scorer.schema_ is None
    assert task.target is None
    return {pointer.removeprefix("/"): value for pointer, value in task.scorer.values.items()}


def last_json(answer: str) -> JsonValue:
    """The last JSON object or array in an answer; of several with the same end, the longest."""
    decoder = json.JSONDecoder()
    found: list[tuple[int, int, JsonValue]] = []
    for start, character in enumerate(answer):
        if character in "{[":
            try:
                value, end = decoder.raw_decode(answer, start)
            except json.JSONDecodeError:
                continue
            found.append((end, -start, value))
    return max(found, key=lambda each: each[:2])[2] if found else None


def share_right(task: TaskSpec, answer: str) -> float:
    """The share of the task's values that the last JSON of an answer has."""
    answered, wanted = last_json(answer), values(task)
    if not isinstance(answered, dict):
        return 0.0
    return sum(answered.get(key) == value for key, value in wanted.items()) / len(wanted)

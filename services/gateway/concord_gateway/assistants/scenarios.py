"""The scenarios that the gateway has: folders below the configured ones, by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from concord.assessment import TaskSpec

if TYPE_CHECKING:
    from concord_assistant.scenario.loader import Scenario

_MAX_KEPT: Final = 8


class NoScenarioError(Exception):
    """There is no scenario of that name, or its files are wrong; the text says which, or lists those that there are."""


class Scenarios:
    """Finds and loads scenarios. Clients name scenarios and cannot bring their own, because scenarios contain code."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """`folders`: each contains scenarios as subfolders. Of equal names, the first folder's counts."""
        self._folders = tuple(folders)
        self._kept: LRUCache[str, Scenario] = LRUCache(_MAX_KEPT)

    def load(self, name: str) -> "Scenario":
        """The scenario of that name. Raises NoScenarioError."""
        from concord_assistant.scenario.loader import ScenarioError, load_scenario, scenario_folders

        if (kept := self._kept.get(name)) is not None:
            return kept
        folders: dict[str, Path] = {}
        for folder in reversed(self._folders):
            folders |= scenario_folders(folder)
        if name not in folders:
            raise NoScenarioError(f"no scenario {name!r}; there are: {', '.join(sorted(folders)) or 'none'}")
        try:
            scenario = self._kept[name] = load_scenario(folders[name])
        except ScenarioError as error:
            raise NoScenarioError(str(error)) from error
        return scenario

    def with_text(self, task: TaskSpec) -> TaskSpec:
        """The task with the scenario's user prompt as text. Raises as `load` does."""
        if task.scenario is None:
            return task
        return task.model_copy(update={"text": self.load(task.scenario).config.user_prompt})

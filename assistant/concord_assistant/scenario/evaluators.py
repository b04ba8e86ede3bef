"""The interface of a scenario's `evaluators.py`: coroutine functions that check a criterion by code.

The process that runs them imports this module with the standard library alone.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from concord_assistant.results import ActionLogEntry


@dataclass(frozen=True, slots=True)
class EvalResult:
    """An evaluator's verdict: `score` of `max_score` points."""

    score: float
    max_score: float
    explanation: str
    details: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AgentBeatsEvalContext:
    """The evidence of one assessment.

    `initial_state` and `final_state` map a modality to its state as the environment's `GET /{modality}/state` gives it.
    """

    scenario_config: Mapping[str, Any]
    action_log: "list[ActionLogEntry]"
    initial_state: dict[str, Any]
    final_state: dict[str, Any]
    user_prompt: str
    final_time: datetime
    turns_taken: int = 0
    other_events: list[dict[str, Any]] | None = None
    """The executed events of everybody but the assistant, each with its `modality` and `data`. None: unknown."""
    actions_omitted: int = 0
    """Actions that `action_log` lacks, because there are too many."""

    async def get_state(self, modality: str) -> Any:  # noqa: ANN401 - JSON
        """The final state of a modality. Raises ValueError for an unknown one."""
        if modality not in self.final_state:
            raise ValueError(f"no modality {modality!r}; there are {', '.join(sorted(self.final_state))}")
        return self.final_state[modality]

    async def get_time(self) -> datetime:
        """The simulated time at the end."""
        return self.final_time


EvaluatorFunc = Callable[[AgentBeatsEvalContext, dict[str, Any]], Awaitable[EvalResult]]
"""Checks one criterion, from the evidence and the criterion's `params`."""


@dataclass(frozen=True, slots=True)
class EvaluatorRegistry:
    """The evaluators of a scenario, by `evaluator_id`, with the source text that defines them.

    The source is run in a subprocess with limits, never in the process that scores.
    """

    source: str = ""
    ids: frozenset[str] = field(default_factory=frozenset)
    modules: Mapping[str, str] = field(default_factory=dict)
    """The sources of the scenario's other modules, by name, which `source` may import."""


NO_EVALUATORS: Final = EvaluatorRegistry()

"""What a built-in evaluator decides on, and what it decides."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from concord_assistant.evaluation.params import Params
from concord_assistant.evaluation.states import COLLECTIONS, Item, items_of
from concord_assistant.scenario.evaluators import AgentBeatsEvalContext
from concord_assistant.scenario.schema import AllowedChange

IDS: Final = frozenset(items.id for items in COLLECTIONS.values())
"""The fields that hold the id of an item."""
NOTHING_DONE: Final = "The assistant took no action."
MAX_SHOWN: Final = 20
"""Changes and messages that the details list."""

P = TypeVar("P", bound=Params)


@dataclass(frozen=True, slots=True)
class Case:
    """What a built-in evaluator decides on."""

    context: AgentBeatsEvalContext
    allowed: Sequence[AllowedChange]

    @property
    def idle(self) -> bool:
        """Whether the assistant took no action: what it left undone then earns nothing."""
        return not any(entry.success for entry in self.context.action_log)

    def items(self, modality: str, *, new: bool = False) -> list[Item]:
        """The items of a modality in the final state."""
        initial = {id_of(item) for item in items_of(self.context.initial_state, modality)} if new else set()
        return [item for item in items_of(self.context.final_state, modality) if id_of(item) not in initial]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The share of the points, from 0 to 1, and that of points which are open."""

    share: float
    explanation: str
    details: dict[str, Any] | None = None
    open: float = 0.0


@dataclass(frozen=True, slots=True)
class BuiltIn(Generic[P]):
    """An evaluator: its parameters, what it decides, and the changes that it asks for."""

    params: type[P]
    evaluate: Callable[[Case, P], Verdict]
    allows: Callable[[P], Iterator[AllowedChange]]


def id_of(item: Item) -> str:
    """The id of an item."""
    return next((str(item[name]) for name in sorted(IDS) if item.get(name)), "")


def ids_of(items: Sequence[Item]) -> list[str]:
    """The ids of the first items, for the details."""
    return [id_of(item) for item in items[:MAX_SHOWN]]


def no_changes(_: Params) -> Iterator[AllowedChange]:
    """The changes that a criterion allows which asks for none."""
    yield from ()

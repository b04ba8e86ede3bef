"""The descriptor of a modality: state, operations, views and scenario documents."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final, Generic, Protocol, TypeVar

from pydantic import BaseModel, Field, JsonValue

from concord_environment.core.actions import Action
from concord_environment.core.clock import EPOCH
from concord_environment.core.events import EventStatus
from concord_environment.core.rows import row
from concord_environment.core.tables import Change, Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.documents import ScenarioForm
from concord_environment.modalities.fields import Moment, Page
from concord_environment_client.operations import ModalityCalls, Operation

ONLY_KEY: Final = "self"
"""The key of the row in a table of one row."""


@row
class Updates:
    """The time of a modality's last update, and the number of its updates."""

    last_updated: Moment
    update_count: int = 0

    def after_one_more(self, at: datetime) -> "Updates":
        """The value after an update at `at`."""
        return Updates(at, self.update_count + 1)


NO_UPDATES: Final = Updates(EPOCH)


class State(Protocol):
    """The tables of one modality. The constructor takes no arguments and creates the state of a new world."""

    @property
    def tables(self) -> tuple[Table[Any], ...]:
        """The tables. Each name starts with the modality's name, as in `email.account`."""


S = TypeVar("S", bound=State)
A = TypeVar("A", bound=Action)
B = TypeVar("B", bound="StateView")
Q = TypeVar("Q", bound=BaseModel)


class States(Protocol):
    """The states of all modalities, by class: `world[EmailState]`."""

    def __getitem__(self, state: type[S], /) -> S:
        """The instance of a state class."""

    def updates(self, modality: str) -> Updates:
        """The update count and time of a modality."""


# --- implementations of operations ---


class Caller(Protocol):
    """The caller of an operation."""

    @property
    def key_id(self) -> str:
        """The id of the caller's key, which is the `agent_id` of the caller's actions."""

    def may(self, permission: str) -> bool:
        """Whether the caller's key grants a permission."""


class ActionResponse(BaseModel):
    """The event of an action. Its status is `executed`, or `pending` until time moves.

    `message` names the ids in the action that do not exist. The action leaves them out.
    """

    event_id: str
    scheduled_time: datetime
    status: EventStatus
    message: str
    modality: str


@dataclass(frozen=True, slots=True)
class EventFacts:
    """What the wire form of an event contains besides the action.

    `row_id` is the id of the first row that the event creates if its action names none.
    """

    row_id: str
    is_executed: bool


def nothing(world: States, action: A, facts: EventFacts) -> dict[str, Any]:  # noqa: ARG001 - one signature for all
    """No fields: the default `affected` for operations whose response is an `ActionResponse`."""
    return {}


def unchanged(world: States, action: A, caller: Caller) -> A:  # noqa: ARG001 - one signature for all
    """Returns the action: the default `bind` for operations that name no person."""
    return action


@dataclass(frozen=True, slots=True)
class Implementation(Generic[A]):
    """How the service executes a declared operation.

    `bind` makes the user the default person of a request, and raises Forbidden if the caller may not act for the
    person that the request names. `apply` executes the action. `affected` returns the fields that `response` has
    besides those of an `ActionResponse`. Raises TypeError for a request of another operation.
    """

    operation: Operation
    request: type[A]
    apply: Callable[[States, A, Transaction], None]
    bind: Callable[[States, A, Caller], A] = unchanged
    response: type[ActionResponse] = ActionResponse
    affected: Callable[[States, A, EventFacts], dict[str, Any]] = nothing

    def __post_init__(self) -> None:
        requested = (self.request.modality, self.request.model_fields["operation"].default)
        if requested != (self.operation.modality, self.operation.name):
            raise TypeError(f"{self.request.__name__} is no request of {self.operation.tool_name}")


AnyImplementation = Implementation[Any]


# --- views ---


class StatePage(Page):
    """A part of a state: up to `limit` items after the first `offset` items, optionally only items since a time.

    By default, the whole state.
    """

    since: Annotated[
        Moment | None, Field(description="Only items from this RFC 3339 time on. Without an offset, it is in UTC.")
    ] = None


class StateView(BaseModel):
    """The fields that all views of a state share. Times are simulated."""

    modality_type: str
    current_time: datetime
    last_updated: datetime
    update_count: int


class QueryAnswer(BaseModel):
    """The fields that all responses to queries share.

    `query` has the filters and the defaults that apply. `total_count` counts all matches. `returned_count` and `count`
    are the number of matches in the response.
    """

    modality_type: str
    query: dict[str, JsonValue]
    total_count: int
    returned_count: int
    count: int


def _no_lines(brief: StateView) -> Iterable[str]:  # noqa: ARG001 - one signature for all
    return ()


@dataclass(frozen=True, slots=True)
class Views(Generic[B, Q]):
    """The views of a modality: a page of the state, the compact state (`brief`), and the responses to queries.

    `find` returns the page of what matches a query, as it is shown, and the number of all matches; the one field that
    `answer_type` adds to a `QueryAnswer` has that page. `as_text` renders the compact state as lines of a prompt.
    `summary` is the whole state without long texts, if the modality has one. `state_of_0_1` is the state for clients
    of UES 0.1, where it differs.
    """

    state: Callable[[States, datetime, StatePage], StateView]
    state_type: type[StateView]
    brief: Callable[[States, datetime], B]
    brief_type: type[B]
    query_type: type[Q]
    find: Callable[[States, datetime, Q], tuple[Sequence[object], int]]
    answer_type: type[QueryAnswer]
    as_text: Callable[[B], Iterable[str]] = _no_lines
    summary: Callable[[States, datetime], StateView] | None = None
    summary_type: type[StateView] | None = None
    state_of_0_1: Callable[[States, datetime, StatePage], StateView] | None = None


def view_fields(world: States, modality: str, now: datetime) -> dict[str, Any]:
    """The fields of `StateView`."""
    updates = world.updates(modality)
    return {
        "modality_type": modality,
        "current_time": now,
        "last_updated": updates.last_updated,
        "update_count": updates.update_count,
    }


# --- the descriptor ---


def plain_data(state: State, action: Action, facts: EventFacts) -> dict[str, Any]:  # noqa: ARG001 - one signature
    """An action as the data of an event: its operation, and all fields of its request, null where not given."""
    return {**dict.fromkeys(type(action).model_fields), **action.as_data()}


def undone_change(state: State, change: Change) -> str:  # noqa: ARG001 - one signature for all
    """What an undo does to a row, such as `remove_message` for a new message."""
    noun = change.table.name.rpartition(".")[2].removesuffix("s")
    return f"remove_{noun}" if change.before is None else f"restore_{noun}"


def _no_inconsistencies(state: State) -> Iterable[str]:  # noqa: ARG001 - one signature for all
    return ()


@dataclass(frozen=True, slots=True)
class Modality(Generic[S]):
    """One modality. The service derives its routes, MCP tools, permissions and scenario documents.

    `calls` declares its operations, each of which has one of the `implementations`. `description` is a noun phrase for
    the content of the state, as in "Returns the user's mailbox". An event without an operation in its data has the
    `default_operation`. `other_names` maps further operations of UES to data that mean the same. `inconsistencies`
    describes the broken references in a state. `event_data` returns the data of an event as UES has it. `undo_action`
    names what an undo does to a row of the first table. Raises TypeError for operations without an implementation.
    """

    calls: type[ModalityCalls[Any]]
    description: str
    state: type[S]
    implementations: tuple[AnyImplementation, ...]
    views: Views[Any, Any]
    scenario: ScenarioForm[S, Any]
    default_operation: str | None = None
    other_names: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    inconsistencies: Callable[[S], Iterable[str]] = _no_inconsistencies
    event_data: Callable[[S, Any, EventFacts], dict[str, Any]] = plain_data
    undo_action: Callable[[S, Change], str] = undone_change

    def __post_init__(self) -> None:
        implemented = {each.operation.name for each in self.implementations}
        if missing := {each.name for each in self.calls.operations()} - implemented:
            raise TypeError(f"{self.name} does not implement {', '.join(sorted(missing))}")

    @property
    def name(self) -> str:
        """The name in paths, permissions, events and scenario files."""
        return self.calls.name

    def answer(self, world: States, now: datetime, query: BaseModel) -> QueryAnswer:
        """The response to a query. Raises Invalid if the modality cannot answer it."""
        shown, total = self.views.find(world, now, query)
        answer_type = self.views.answer_type
        (found,) = answer_type.model_fields.keys() - QueryAnswer.model_fields.keys()
        return answer_type.model_validate(
            {
                "modality_type": self.name,
                "query": query.model_dump(mode="json", exclude_none=True),
                "total_count": total,
                "returned_count": len(shown),
                "count": len(shown),
                found: shown,
            }
        )


AnyModality = Modality[Any]

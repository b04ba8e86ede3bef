"""The declarations of modalities: the one place that names an operation, its path, its permission and its effect.

The service derives routes, MCP tools and permissions from them. The clients derive their methods, assessments
the permissions of an assistant's key and what an assistant changed, and assistants their tools.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from concord_environment_client.endpoints import Endpoint, Method, Resource, S, T
from concord_environment_client.responses import ActionResult

Schema = Mapping[str, Any]
"""A JSON schema."""

TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
TIME: Final[Schema] = {"type": "string", "format": "date-time", "description": "RFC 3339 with an offset"}
NUMBER: Final[Schema] = {"type": "integer", "minimum": 1}
FLAG: Final[Schema] = {"type": "boolean"}


@dataclass(frozen=True)
class Tool:
    """A call as a tool of an assistant: what it does, and the schemas of its arguments.

    `needs` are required, `takes` are optional. `defaults` are the fields that every call has besides.
    """

    description: str
    needs: Mapping[str, Schema] = field(default_factory=dict)
    takes: Mapping[str, Schema] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Effect:
    """What an operation does to the items of the state that its data name.

    `creates`: it makes an item, and names others only as what the item refers to. `changes`: the fields that it
    changes; None means any. `deletes`: it deletes items, or marks them as deleted in these fields. `empties`: it
    deletes all items that have an id of its data in this field.
    """

    creates: bool = False
    changes: frozenset[str] | None = None
    deletes: frozenset[str] | None = None
    empties: str | None = None


CREATES: Final = Effect(creates=True)
CHANGES_ANY: Final = Effect()


def changes(*fields: str) -> Effect:
    """The effect of an operation that changes these fields."""
    return Effect(changes=frozenset(fields))


def deletes(*marks: str) -> Effect:
    """The effect of an operation that deletes items, or marks them as deleted in these fields."""
    return Effect(deletes=frozenset(marks))


@dataclass(frozen=True)
class Operation(Endpoint[ActionResult]):
    """An operation of a modality.

    `path` is that of its call, `/email/read`. `name` is its name in the data of events and in action logs. `tool` is
    how an assistant calls it, None if no assistant may. `granted_by` is the permission if it is not that of the path,
    `email:read`.
    """

    method: Method = field(default="POST", init=False)
    response: type[ActionResult] = field(default=ActionResult, init=False)
    name: str
    effect: Effect
    tool: Tool | None = None
    granted_by: str | None = None

    @property
    def modality(self) -> str:
        """The name of the modality."""
        return self.path.split("/")[1]

    @property
    def route(self) -> str:
        """The path below the modality."""
        return self.path.split("/", 2)[2]

    @property
    def tool_name(self) -> str:
        """The name of the operation as a tool, such as `email_mark_read`."""
        return f"{self.modality}_{self.name}"

    @property
    def permission(self) -> str:
        """The permission to call the operation."""
        return self.granted_by or f"{self.modality}:{self.route.replace('/', ':')}"


@dataclass(frozen=True)
class StateCall(Endpoint[T]):
    """The call that reads the state of a modality."""

    method: Method = field(default="GET", init=False)


@dataclass(frozen=True)
class QueryCall(Endpoint[T]):
    """The call that searches a modality. `tool` is how an assistant calls it, None if no assistant may."""

    method: Method = field(default="POST", init=False)
    tool: Tool | None = None


@dataclass(frozen=True)
class Items:
    """A collection of items in a state: its field, and the fields of its items.

    `id` has the id of an item, and `time` its time. `content` are the fields that an item is created with and that
    identify it. `kept` are the fields that the environment changes by itself or with other fields. `sender` has the
    sender, which is `sent_by_assistant`, or by default the user's address, if the assistant made the item.
    """

    collection: str
    id: str
    time: str | None = None
    content: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    sender: str | None = None
    sent_by_assistant: str | None = None


class ModalityCalls(Resource[S]):
    """The calls of one modality, as its declaration: a subclass has each call as a class attribute.

    `name` identifies the modality in paths, permissions, events and states. `items` are the collections of its state,
    the main one first. `user_address` is the field of its state with the address or number that the user sends from.
    """

    name: ClassVar[str]
    items: ClassVar[tuple[Items, ...]] = ()
    user_address: ClassVar[str | None] = None

    get_state: StateCall[Any]
    query: QueryCall[Any]

    @classmethod
    def _declared(cls) -> Iterator[object]:
        return (value for owner in reversed(cls.__mro__) for value in vars(owner).values())

    @classmethod
    def state_permission(cls) -> str:
        """The permission to read the state."""
        return f"{cls.name}:state"

    @classmethod
    def query_permission(cls) -> str:
        """The permission to search the modality."""
        return f"{cls.name}:query"

    @classmethod
    def operations(cls) -> Iterator[Operation]:
        """The operations in the order of their declaration."""
        return (each for each in cls._declared() if isinstance(each, Operation))

    @classmethod
    def operation(cls, name: str) -> Operation | None:
        """The operation with a name, or with a route, which the data of an event may give instead."""
        return next((each for each in cls.operations() if name in (each.name, each.route)), None)

    @classmethod
    def tools(cls) -> Iterator[tuple[str, QueryCall[Any] | Operation]]:
        """The calls that an assistant may make, with their names as tools, such as `email_query`."""
        for each in cls._declared():
            if isinstance(each, QueryCall) and each.tool is not None:
                yield f"{cls.name}_query", each
            elif isinstance(each, Operation) and each.tool is not None:
                yield each.tool_name, each


def assistant_permissions(modalities: Iterable[type[ModalityCalls[Any]]]) -> Iterator[str]:
    """The permissions that an assistant needs for its tools. Who may search a modality may read its state."""
    for modality in modalities:
        for _, call in modality.tools():
            if isinstance(call, Operation):
                yield call.permission
            else:
                yield from (modality.state_permission(), modality.query_permission())

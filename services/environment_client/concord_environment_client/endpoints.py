"""Endpoints: descriptors that declare each call once, for both clients."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from string import Formatter
from typing import Any, Final, Generic, Literal, Protocol, Self, TypeVar, overload

from pydantic import BaseModel, TypeAdapter

T = TypeVar("T")
Method = Literal["GET", "POST", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class Request(Generic[T]):
    """An HTTP request, and the type of its response."""

    method: Method
    path: str
    params: Mapping[str, Any] | None
    body: Any
    response: TypeAdapter[T]
    """Parses the response."""


class Sender(Protocol):
    """A synchronous client."""

    def send(self, request: Request[T]) -> T:
        """Sends a request and returns the parsed response. Raises a UESClientError."""


class AsyncSender(Protocol):
    """An asynchronous client."""

    async def send(self, request: Request[T]) -> T:
        """Sends a request and returns the parsed response. Raises a UESClientError."""


S = TypeVar("S", Sender, AsyncSender)


class Resource(Generic[S]):
    """The calls of one resource of the service, as methods for a client."""

    def __init__(self, sender: S) -> None:
        self.sender: Final[S] = sender


@dataclass(frozen=True)
class Endpoint(Generic[T]):
    """A call of the service, as a method of its resource.

    The keyword arguments of the method are the path parameters, and then the query parameters of a GET or DELETE, or
    the fields of the JSON body of any other call.
    """

    method: Method
    path: str
    response: type[T]

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self.response)

    @cached_property
    def _path_parameters(self) -> frozenset[str]:
        return frozenset(name for _, name, _, _ in Formatter().parse(self.path) if name)

    @overload
    def __get__(self, resource: None, owner: type[Any]) -> Self: ...
    @overload
    def __get__(self, resource: Resource[Sender], owner: type[Any]) -> Callable[..., T]: ...
    @overload
    def __get__(self, resource: Resource[AsyncSender], owner: type[Any]) -> Callable[..., Awaitable[T]]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type[Any]) -> Any:
        """The call as a method of a client."""
        if resource is None:
            return self

        def call(**fields: Any) -> Any:  # noqa: ANN401 - any fields and responses
            return resource.sender.send(self.request(fields))

        return call

    def request(self, fields: Mapping[str, Any]) -> Request[T]:
        """The request with these fields, whose values may contain datetimes and pydantic models."""
        path = self.path.format(**{name: fields[name] for name in self._path_parameters})
        rest = {name: _as_json(value) for name, value in fields.items() if name not in self._path_parameters}
        if self.method in ("GET", "DELETE"):
            params = {name: value for name, value in rest.items() if value is not None}
            return Request(self.method, path, params, None, self._adapter)
        return Request(self.method, path, None, rest, self._adapter)


def _as_json(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_as_json(item) for item in value]
    return value

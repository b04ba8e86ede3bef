"""Endpoints: each call declared once, for both clients."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Any, Final, Generic, Literal, Protocol, TypeVar, overload

from pydantic import BaseModel, TypeAdapter

T = TypeVar("T")
Method = Literal["GET", "POST", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class Request(Generic[T]):
    """A call with its fields, and the type of its response."""

    method: Method
    path: str
    params: Mapping[str, Any] | None
    body: Any
    content: bytes | None
    answer: TypeAdapter[T] | None
    """None if the response is a file, as bytes."""


class Sender(Protocol):
    """A synchronous client."""

    def send(self, request: Request[T]) -> T:
        """Sends a call and returns its response. Raises a UESClientError."""


class AsyncSender(Protocol):
    """An asynchronous client."""

    async def send(self, request: Request[T]) -> T:
        """Sends a call and returns its response. Raises a UESClientError."""


class Resource:
    """The calls of one resource, for `UESClient`."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender


class AsyncResource:
    """The calls of one resource, for `AsyncUESClient`."""

    def __init__(self, sender: AsyncSender) -> None:
        self.sender = sender


class Endpoint(Generic[T]):
    """One call. Its keyword arguments fill the path, then the query of a GET or the body of any other call.

    `content` (bytes) sends a file as the body. A response of type `bytes` is a file.
    """

    def __init__(self, method: Method, path: str, answer: type[T]) -> None:
        self.method: Final = method
        self.path: Final = path
        self.answer: Final = answer
        self._adapter: TypeAdapter[T] | None = None if answer is bytes else TypeAdapter(answer)
        self._in_path = {name for _, name, _, _ in Formatter().parse(path) if name}

    @overload
    def __get__(self, resource: None, owner: type[Any]) -> "Endpoint[T]": ...
    @overload
    def __get__(self, resource: Resource, owner: type[Any]) -> Callable[..., T]: ...
    @overload
    def __get__(self, resource: AsyncResource, owner: type[Any]) -> Callable[..., Awaitable[T]]: ...
    def __get__(self, resource: Resource | AsyncResource | None, owner: type[Any]) -> Any:
        """The call, bound to a client."""
        if resource is None:
            return self

        def call(**fields: Any) -> Any:  # noqa: ANN401 - what the service takes and gives
            return resource.sender.send(self.request(fields))

        return call

    def request(self, fields: Mapping[str, Any]) -> Request[T]:
        """The call with its fields, which may be datetimes and models."""
        path = self.path.format(**{name: fields[name] for name in self._in_path})
        rest = {name: _plain(value) for name, value in fields.items() if name not in self._in_path}
        content = rest.pop("content", None) if isinstance(rest.get("content"), bytes) else None
        if self.method in ("GET", "DELETE") or content is not None:
            params = {name: value for name, value in rest.items() if value is not None}
            return Request(self.method, path, params, None, content, self._adapter)
        return Request(self.method, path, None, rest, None, self._adapter)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(part) for part in value]
    return value

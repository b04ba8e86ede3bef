"""The rows of tables: frozen dataclasses that are cheap to create."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def row(made: type[T]) -> type[T]:
    """A frozen dataclass with slots and without default factories.

    Its `__init__` sets the slots directly, in half the time of an `__init__` that `dataclass` generates.
    """
    frozen: Any = dataclass(frozen=True, slots=True)(made)
    frozen.__init__ = _initialiser(frozen)
    result: type[T] = frozen
    return result


def _initialiser(frozen: type[Any]) -> Callable[..., None]:
    names = [field.name for field in fields(frozen)]
    source = [f"def __init__(self, {', '.join(names)}):", *(f"    _{name}(self, {name})" for name in names)]
    scope: dict[str, Any] = {f"_{name}": getattr(frozen, name).__set__ for name in names}
    exec("\n".join(source), scope)  # nosec B102  # noqa: S102 - as dataclasses does, from field names
    initialiser: Any = scope["__init__"]
    initialiser.__defaults__ = frozen.__init__.__defaults__
    return initialiser  # type: ignore[no-any-return]  # dataclass_transform declares its parameters

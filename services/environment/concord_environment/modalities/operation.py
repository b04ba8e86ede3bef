"""An operation of a modality: what it takes, what it does, who may do it in whose name, and where it is found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from concord_environment.core.actions import Action
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.world import EnvironmentWorld

A = TypeVar("A", bound=Action)


class Caller(Protocol):
    """Who makes a call, as far as an operation needs to know."""

    @property
    def key_id(self) -> str:
        """The key's id, which every action carries as its `agent_id`."""

    def may(self, permission: str) -> bool:
        """Whether the key grants a permission."""


def unbound(world: EnvironmentWorld, action: A, caller: Caller) -> A:  # noqa: ARG001 - one signature for all
    """For operations that name nobody."""
    return action


@dataclass(frozen=True, slots=True)
class Operation(Generic[A]):
    """One operation.

    `bind` ties what names a person to the simulated user, or raises Forbidden; `apply` carries the action out.
    `notice` is the type under which webhooks and web sockets hear of it.
    """

    request: type[A]
    apply: Callable[[EnvironmentWorld, A, Transaction], None]
    route: str
    permission: str
    notice: str
    bind: Callable[[EnvironmentWorld, A, Caller], A] = unbound

    @property
    def modality(self) -> str:
        """The modality that it belongs to."""
        return self.request.modality

    @property
    def name(self) -> str:
        """Its name in an event's `data`."""
        return str(self.request.model_fields["operation"].default)


AnyOperation = Operation[Any]

"""The callers of an A2A agent: holders of an API key, or anonymous."""

from dataclasses import dataclass

from a2a.auth.user import UnauthenticatedUser, User
from a2a.server.context import ServerCallContext
from a2a.server.routes.common import DefaultServerCallContextBuilder
from starlette.requests import Request

from concord.trust.api_keys import ApiKeys


@dataclass(frozen=True, slots=True)
class KeyHolder(User):
    owner: str

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self.owner


class Callers(DefaultServerCallContextBuilder):
    """Identifies the caller of each request for the SDK, whose task stores separate tasks by user."""

    def __init__(self, keys: ApiKeys | None) -> None:
        self._keys = keys

    def admit(self, request: Request) -> bool:
        return not self._keys or self._keys.owner(request.headers) is not None

    def build_user(self, request: Request) -> User:
        owner = self._keys.owner(request.headers) if self._keys else None
        return UnauthenticatedUser() if owner is None else KeyHolder(owner)


def context_of(owner: str) -> ServerCallContext:
    """The context of an earlier caller; `owner` is its `User.user_name`."""
    return ServerCallContext(user=KeyHolder(owner) if owner else UnauthenticatedUser())

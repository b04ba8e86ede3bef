"""The router of the service's routes."""

from fastapi import APIRouter
from starlette.routing import Match
from starlette.types import Scope


class PrefixRouter(APIRouter):
    """A router that compares a path with its prefix before it compares the path with each of its routes.

    Comparing every call with a hundred routes takes a third of the time of a short call.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether one of the routes serves a call."""
        path: str = scope["path"]
        return super().matches(scope) if path.startswith(self.prefix) else (Match.NONE, {})

"""The dependencies that routes share: the environment, the caller's key and the addressed simulation."""

from base64 import b64decode
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.requests import HTTPConnection
from fastapi.security import APIKeyHeader

from concord_environment.access.keys import Key
from concord_environment.environment import Environment, EnvironmentSimulation


def environment_of(connection: HTTPConnection) -> Environment:
    """The environment that a call addresses: a person's, or that of the process."""
    environment: Environment = connection.scope["environment"]
    return environment


async def _served(connection: HTTPConnection) -> Environment:
    # FastAPI runs a dependency that is not a coroutine function in another thread.
    return environment_of(connection)


Served = Annotated[Environment, Depends(_served)]


def identify(request: Request) -> Key:
    """The caller's key. The access log reads it from the state of the request. Raises HTTPException (401)."""
    secret = request.headers.get("x-api-key") or _basic(request)[1]
    if not secret:
        raise HTTPException(401, "Missing API key: send it in the header X-API-Key")
    key = environment_of(request).keys.authenticate(secret)
    if key is None:
        raise HTTPException(401, "Invalid API key")
    request.state.key = key
    return key


def is_of_ues_0_1(request: Request) -> bool:
    """Whether the caller is a client of UES 0.1, which says so in the only way that it has: the user of its URL."""
    return _basic(request)[0] == "0.1"


def _basic(request: Request) -> tuple[str, str]:
    """The user and the password of HTTP Basic authentication (RFC 7617), empty without it."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        user, _, password = b64decode(token, validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return user, password


# Each dependency of a dependency takes as long as the dependency, at every call. So these have none.


class permitted(APIKeyHeader):  # noqa: N801 - a dependency, called like a function
    """A dependency on the caller's key. Raises Forbidden unless the key grants the permission."""

    def __init__(self, permission: str) -> None:
        super().__init__(
            name="X-API-Key",
            scheme_name="APIKeyHeader",
            description="An API key: the `secret` in the response of `POST /keys`, or the admin key.",
        )
        self._permission = permission

    async def __call__(self, request: Request) -> Key:  # type: ignore[override]  # the key, not its secret
        """The caller's key."""
        key = identify(request)
        key.require(self._permission)
        return key


async def _addressed(connection: HTTPConnection) -> EnvironmentSimulation:
    return environment_of(connection).simulation


Addressed = Annotated[EnvironmentSimulation, Depends(_addressed)]
"""The simulation that a call addresses."""

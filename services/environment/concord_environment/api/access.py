"""The dependencies that routes share: the environment, the caller's key and the addressed simulation."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final

from fastapi import Depends, Header, HTTPException, Request, Security
from fastapi.requests import HTTPConnection
from fastapi.security import APIKeyHeader

from concord_environment.access.keys import Key
from concord_environment.environment import Environment, EnvironmentSimulation

BRANCH_HEADER: Final = "X-UES-Branch"
_SCHEME: Final = APIKeyHeader(
    name="X-API-Key",
    auto_error=False,
    description="An API key: the `secret` in the response of `POST /keys`, or the admin key.",
)


def environment_of(connection: HTTPConnection) -> Environment:
    """The environment that the app serves."""
    environment: Environment = connection.app.state.environment
    return environment


Served = Annotated[Environment, Depends(environment_of)]


async def _identified(
    request: Request, environment: Served, secret: Annotated[str | None, Security(_SCHEME)] = None
) -> Key:
    if not secret:
        raise HTTPException(401, "Missing API key: send it in the header X-API-Key")
    key = environment.keys.authenticate(secret)
    if key is None:
        raise HTTPException(401, "Invalid API key")
    request.state.key = key
    return key


Identified = Annotated[Key, Depends(_identified)]


def permitted(permission: str) -> Callable[[Key], Awaitable[Key]]:
    """A dependency on the caller's key. Raises Forbidden unless the key grants the permission."""

    async def check(key: Identified) -> Key:
        key.require(permission)
        return key

    return check


async def _addressed(
    environment: Served,
    caller: Identified,
    branch: Annotated[
        str | None,
        Header(
            alias=BRANCH_HEADER,
            max_length=40,
            description="The id of a branch from `POST /simulation/fork`; by default, the main simulation. "
            "Requires the permission `simulation:fork`. Responds with 404 if the branch does not exist.",
        ),
    ] = None,
) -> EnvironmentSimulation:
    if branch is not None:
        caller.require("simulation:fork")
    return environment.branch(branch)


Addressed = Annotated[EnvironmentSimulation, Depends(_addressed)]
"""The simulation that a call addresses: the branch in the header, or else the main simulation."""

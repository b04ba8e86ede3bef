"""`/keys`: creating, reading and revoking API keys."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel, Field

from concord_environment.access.keys import Key, Permission
from concord_environment.api.access import Served, permitted
from concord_environment.modalities.fields import Name


class KeyRequest(BaseModel):
    """A new API key.

    A permission is `resource:action`, such as `email:send`. `*` matches one part, and at the end all remaining parts:
    `email:*` grants all actions on email, and `*` everything.
    """

    name: Name
    permissions: Annotated[list[Permission], Field(max_length=200)] = []


class KeyView(BaseModel):
    """An API key without its secret."""

    key_id: str
    name: str
    permissions: list[str]
    created_at: datetime
    created_by: str | None
    revoked_at: datetime | None = None


class NewKey(KeyView):
    """A new API key with its secret, which the service returns only once."""

    secret: str


class KeyList(BaseModel):
    """All API keys."""

    keys: list[KeyView]
    count: int


class Revocation(BaseModel):
    """A revoked API key."""

    key_id: str
    revoked: bool
    revoked_at: datetime | None


router = APIRouter(prefix="/keys", tags=["keys"])


@router.post("", status_code=201)
async def create_key(
    request: KeyRequest, environment: Served, caller: Annotated[Key, Depends(permitted("keys:create"))]
) -> NewKey:
    """Creates an API key and returns its secret once.

    Responds with 403 for a permission that the caller's key does not have.
    """
    key, secret = environment.keys.create(request.name, request.permissions, caller, datetime.now(UTC))
    return NewKey(**_fields(key), secret=secret)


@router.get("", dependencies=[Depends(permitted("keys:list"))])
async def list_keys(environment: Served) -> KeyList:
    """Returns all API keys, including revoked ones, without their secrets."""
    keys = [KeyView(**_fields(key)) for key in environment.keys.all()]
    return KeyList(keys=keys, count=len(keys))


@router.get("/{key_id}", dependencies=[Depends(permitted("keys:read"))])
async def read_key(key_id: str, environment: Served) -> KeyView:
    """Returns an API key without its secret. Responds with 404 if it does not exist."""
    return KeyView(**_fields(environment.keys.get(key_id)))


@router.delete("/{key_id}", dependencies=[Depends(permitted("keys:revoke"))])
async def revoke_key(key_id: str, environment: Served) -> Revocation:
    """Revokes an API key permanently.

    Responds with 400 for the admin key, with 404 if the key does not exist, and with 409 if it is revoked already.
    """
    if environment.keys.is_admin(environment.keys.get(key_id).key_id):
        raise HTTPException(400, "the admin key cannot be revoked")
    key = environment.keys.revoke(key_id, datetime.now(UTC))
    return Revocation(key_id=key.key_id, revoked=True, revoked_at=key.revoked_at)


def _fields(key: Key) -> dict[str, Any]:
    return {
        "key_id": key.key_id,
        "name": key.name,
        "permissions": list(key.permissions),
        "created_at": key.created_at,
        "created_by": key.created_by,
        "revoked_at": key.revoked_at,
    }

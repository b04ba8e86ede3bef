"""`/bundles/<SHA-256>`: a bundle for the client whose assessment left it, and for the holder of the gateway's key."""

import asyncio
import logging
import re
from pathlib import Path
from typing import Annotated, Final

from fastapi import APIRouter, Request
from fastapi import Path as PathParameter
from pydantic import BaseModel, SecretStr, ValidationError
from starlette.responses import FileResponse, JSONResponse, Response

from concord.bundle import bundle_file
from concord.files import atomic_file, read_bounded
from concord.trust.api_keys import MIN_KEY_LENGTH, ApiKeys, owner_of, shows
from concord.trust.redaction import learn_secret

logger = logging.getLogger(__name__)

_DIGEST: Final = re.compile("[0-9a-f]{64}")
_MAX_BYTES: Final = 4096


class BundleClient(BaseModel):
    """Whose bundle it is: the digest of the client's API key, or, if it showed none, of its task's id."""

    assessment_id: str
    owner: str = ""
    task: str = ""

    @classmethod
    def of(cls, assessment_id: str, owner: str, task_id: str) -> "BundleClient":
        """The client of a task. `owner`: of its API key, or empty."""
        return cls(assessment_id=assessment_id, owner=owner, task="" if owner else owner_of(task_id))


def keep_client(output_dir: Path, bundle_sha256: str, client: BundleClient, *, forget: bool) -> None:
    """Stores whose bundle it is. Raises OSError.

    `forget`: forgets the clients of deleted bundles, which takes the longer the more there are.
    """
    folder = output_dir / "bundle-clients"
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.json") if forget else ():
        known = _client(path)
        if known is None or not bundle_file(output_dir, known.assessment_id).exists():
            path.unlink(missing_ok=True)
    with atomic_file(folder / f"{bundle_sha256}.json", 0o600) as file:
        file.write(client.model_dump_json().encode())


def bundle_routes(output_dir: Path, keys: ApiKeys, bundle_key: SecretStr, *, shared_secret: bool) -> APIRouter:
    """The route. A caller that may not have a bundle gets 404, as for one that does not exist.

    `shared_secret`: whether assessments have a task secret in common. A client that saw the bundle of one would know
    the tasks of the next, so only the holder of `bundle_key` gets any. Raises ValueError if that key is too short.
    """
    key = bundle_key.get_secret_value()
    if key and len(key) < MIN_KEY_LENGTH:
        raise ValueError(f"the bundle key must have at least {MIN_KEY_LENGTH} characters")
    learn_secret(key)
    router = APIRouter(tags=["bundles"])

    def may_have(request: Request, client: BundleClient) -> bool:
        if key and shows(request.headers, owner_of(key)):
            return True
        if shared_secret:
            return False
        if client.owner:
            return keys.owner(request.headers) == client.owner
        return not keys and bool(client.task) and shows(request.headers, client.task)

    def found(request: Request, digest: str) -> Path | None:
        client = _client(output_dir / "bundle-clients" / f"{digest}.json") if _DIGEST.fullmatch(digest) else None
        if client is None or not may_have(request, client):
            return None
        path = bundle_file(output_dir, client.assessment_id)
        return path if path.is_file() else None

    @router.get("/bundles/{sha256}", response_class=FileResponse, responses={404: {"description": "no such bundle"}})
    async def bundle(
        request: Request, sha256: Annotated[str, PathParameter(description="`detail.bundle_sha256` of the row.")]
    ) -> Response:
        path = await asyncio.to_thread(found, request, sha256)
        if path is None:
            return JSONResponse({"detail": "no such bundle"}, 404)
        return FileResponse(path, media_type="application/zip", headers={"cache-control": "no-store"})

    return router


def _client(path: Path) -> BundleClient | None:
    try:
        return BundleClient.model_validate_json(read_bounded(path, _MAX_BYTES))
    except (OSError, ValidationError):
        return None

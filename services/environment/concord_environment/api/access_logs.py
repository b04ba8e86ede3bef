"""`/access-logs`: the log of the latest calls."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from concord_environment.access.log import Access
from concord_environment.api.access import Served, permitted
from concord_environment.modalities.fields import Moment


class AccessFilter(BaseModel):
    """Filters of the access log. A call has to match all given filters. `since` and `until` are inclusive."""

    model_config = ConfigDict(frozen=True)

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    key_id: Annotated[str | None, Field(max_length=100)] = None
    key_name: Annotated[str | None, Field(max_length=200)] = None
    path_prefix: Annotated[str | None, Field(max_length=500)] = None
    method: Annotated[str | None, Field(max_length=20)] = None
    status_code_min: Annotated[int | None, Field(ge=100, le=599)] = None
    status_code_max: Annotated[int | None, Field(ge=100, le=599)] = None
    errors_only: bool = False
    since: Moment | None = None
    until: Moment | None = None


class AccessView(BaseModel):
    """A logged call. `timestamp` is wall-clock time. The key is null for a call without a valid key."""

    timestamp: datetime
    key_id: str | None
    key_name: str | None
    method: str
    path: str
    status_code: int
    duration_ms: float


class AccessList(BaseModel):
    """A page of the logged calls, latest first. `total` counts all matches."""

    entries: list[AccessView]
    total: int
    limit: int
    offset: int


class AccessStats(BaseModel):
    """Statistics of the logged calls. A call with a status below 400 is successful."""

    total_requests: int
    successful_requests: int
    failed_requests: int
    unique_keys: int
    first_request: datetime | None
    last_request: datetime | None


class AccessCleared(BaseModel):
    """The number of deleted log entries."""

    cleared: int


router = APIRouter(prefix="/access-logs", tags=["access logs"])


@router.get("", dependencies=[Depends(permitted("logs:read"))])
async def read_log(environment: Served, wanted: Annotated[AccessFilter, Query()]) -> AccessList:
    """Returns the logged calls that match all given filters, latest first: by default 100, at most 1000."""
    found = [access for access in environment.access_log if _fits(access, wanted)][::-1]
    page = found[wanted.offset : wanted.offset + wanted.limit]
    entries = [AccessView.model_validate(access, from_attributes=True) for access in page]
    return AccessList(entries=entries, total=len(found), limit=wanted.limit, offset=wanted.offset)


@router.get("/stats", dependencies=[Depends(permitted("logs:read"))])
async def read_stats(environment: Served) -> AccessStats:
    """Returns statistics of the logged calls. The log keeps the latest calls only."""
    entries = list(environment.access_log)
    successful = sum(access.status_code < 400 for access in entries)
    return AccessStats(
        total_requests=len(entries),
        successful_requests=successful,
        failed_requests=len(entries) - successful,
        unique_keys=len({access.key_id for access in entries if access.key_id}),
        first_request=entries[0].timestamp if entries else None,
        last_request=entries[-1].timestamp if entries else None,
    )


@router.post("/clear", dependencies=[Depends(permitted("logs:clear"))])
async def clear_log(environment: Served) -> AccessCleared:
    """Deletes all entries of the access log."""
    return AccessCleared(cleared=environment.access_log.clear())


def _fits(access: Access, wanted: AccessFilter) -> bool:
    return (
        wanted.key_id in (None, access.key_id)
        and wanted.key_name in (None, access.key_name)
        and access.path.startswith(wanted.path_prefix or "")
        and (wanted.method is None or access.method == wanted.method.upper())
        and (wanted.status_code_min or 0) <= access.status_code <= (wanted.status_code_max or 999)
        and not (wanted.errors_only and access.status_code < 400)
        and (wanted.since is None or access.timestamp >= wanted.since)
        and (wanted.until is None or access.timestamp <= wanted.until)
    )

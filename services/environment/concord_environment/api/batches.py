"""`/events/batch`: scheduling and checking many actions in one call."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

from concord_environment.access.keys import Key
from concord_environment.api.access import Served, permitted
from concord_environment.api.errors import Problem
from concord_environment.api.events import MAX_BATCH, EventRequest, submission_of
from concord_environment.core.events import Event, Submission
from concord_environment.core.faults import Fault
from concord_environment.environment import Environment


class BatchRequest(BaseModel):
    """Up to 1000 actions.

    By default, the service schedules the valid actions and reports the invalid ones. With `stop_on_first_error`, one
    invalid action keeps all from being scheduled. With `validate_only`, the service schedules none.
    """

    events: Annotated[list[EventRequest], Field(min_length=1, max_length=MAX_BATCH)]
    stop_on_first_error: bool = False
    validate_only: bool = False


class BatchItem(BaseModel):
    """The outcome of an action in a batch. `index` is its position in the request, from 0."""

    index: int
    success: bool
    modality: str
    event_id: str | None
    scheduled_time: datetime | None
    error: str | None


class BatchAnswer(BaseModel):
    """The outcome of a batch."""

    total_submitted: int
    total_created: int
    total_failed: int
    events: list[BatchItem]


class CheckedItem(BaseModel):
    """Whether an action in a batch is valid. `index` is its position in the request, from 0."""

    index: int
    valid: bool
    modality: str
    error: str | None


class BatchCheck(BaseModel):
    """The outcome of checking a batch. No action was scheduled: `total_created` is 0."""

    validation_only: bool = True
    total_submitted: int
    total_created: int = 0
    total_failed: int
    total_valid: int
    total_invalid: int
    events: list[CheckedItem]


router = APIRouter(prefix="/events", tags=["events"])


@router.post(
    "/batch",
    status_code=201,
    response_model=BatchAnswer | BatchCheck,
    responses={
        200: {"model": BatchCheck, "description": "The actions were checked only."},
        207: {"model": BatchAnswer, "description": "Some actions were scheduled."},
        400: {"model": BatchAnswer | Problem, "description": "No action was scheduled."},
    },
)
async def create_batch(
    request: BatchRequest,
    environment: Served,
    caller: Annotated[Key, Depends(permitted("events:batch"))],
    response: Response,
) -> BatchAnswer | BatchCheck:
    """Schedules up to 1000 actions in one step.

    Responds with 201 if all actions were scheduled, with 207 if some were, with 400 if none was, and with 200 for
    `validate_only`.
    """
    checked = [_checked(environment, caller, one) for one in request.events]
    sound = [one for one in checked if isinstance(one, Submission)]
    failed = len(checked) - len(sound)
    names = [one.modality for one in request.events]
    if request.validate_only:
        response.status_code = 200
        return BatchCheck(
            total_submitted=len(checked),
            total_failed=failed,
            total_valid=len(sound),
            total_invalid=failed,
            events=list(_checks(names, checked)),
        )
    refused = (request.stop_on_first_error and failed > 0) or not sound
    created = [] if refused else environment.schedule(sound)
    response.status_code = 400 if not created else 207 if failed else 201
    return BatchAnswer(
        total_submitted=len(checked),
        total_created=len(created),
        total_failed=failed,
        events=list(_items(names, checked, iter(created))),
    )


def _checked(environment: Environment, caller: Key, request: EventRequest) -> Submission | Fault:
    try:
        submission = submission_of(environment, caller, request)
        environment.simulation.require_future(submission.due)
    except Fault as fault:
        return fault
    return submission


def _checks(names: Iterable[str], checked: Iterable[Submission | Fault]) -> Iterator[CheckedItem]:
    for index, (modality, one) in enumerate(zip(names, checked, strict=True)):
        error = str(one) if isinstance(one, Fault) else None
        yield CheckedItem(index=index, valid=error is None, modality=modality, error=error)


def _items(
    names: Iterable[str], checked: Iterable[Submission | Fault], created: Iterator[Event]
) -> Iterator[BatchItem]:
    for check in _checks(names, checked):
        event = next(created, None) if check.valid else None
        yield BatchItem(
            index=check.index,
            success=check.valid,
            modality=check.modality,
            event_id=event.event_id if event else None,
            scheduled_time=event.scheduled_time if event else None,
            error=check.error,
        )

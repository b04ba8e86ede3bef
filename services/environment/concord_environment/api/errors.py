"""Error responses. No error response repeats values of the request."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from concord_environment.core.faults import BadRequest, Conflict, Fault, Forbidden, Invalid, NotFound

_STATUS: Final = (
    (NotFound, 404),
    (Conflict, 409),
    (Forbidden, 403),
    (Invalid, 422),
    (BadRequest, 400),
)


def status_of(fault: Fault) -> int:
    """The HTTP status of a fault."""
    return next((status for kind, status in _STATUS if isinstance(fault, kind)), 400)


class Problem(BaseModel):
    """An error. `detail` is a message for the caller."""

    detail: str


class BadField(BaseModel):
    """An invalid field: its location, a message, the type of the error, and the bounds or values that it may have."""

    loc: list[str | int]
    msg: str
    type: str
    ctx: dict[str, str | int | float] | None = None


class BadFields(BaseModel):
    """The invalid fields of a request."""

    error: str
    detail: list[BadField]


RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Problem, "description": "The body is not JSON, or the call has no meaning."},
    401: {"model": Problem, "description": "The key is missing, unknown or revoked."},
    403: {"model": Problem, "description": "The key lacks the permission that `detail` names."},
    404: {"model": Problem, "description": "The call names something that does not exist."},
    409: {"model": Problem, "description": "The current state does not allow the call."},
    413: {"model": Problem, "description": "The body exceeds the size limit, by default 16 MiB."},
    422: {"model": BadFields, "description": "A field is invalid; `detail` names it."},
}
"""The error responses of all routes."""


def add_error_handlers(app: FastAPI) -> None:
    """Turns Faults and invalid requests into responses."""

    @app.exception_handler(Fault)
    async def on_fault(request: Request, fault: Fault) -> JSONResponse:  # noqa: ARG001 - FastAPI's signature
        if isinstance(fault, Invalid):
            return _bad_fields([{"loc": ["body"], "msg": str(fault), "type": "invalid"}])
        status = status_of(fault)
        return JSONResponse({"detail": str(fault)}, status)

    @app.exception_handler(RequestValidationError)
    async def on_bad_request(request: Request, error: RequestValidationError) -> JSONResponse:  # noqa: ARG001
        return _bad_fields([_bad_field(one) for one in error.errors()[:50]])


def _bad_field(error: Mapping[str, Any]) -> dict[str, Any]:
    field = {"type": error["type"], "loc": list(error["loc"]), "msg": error["msg"]}
    context = error.get("ctx", {})
    bounds = {name: context[name] for name in _BOUNDS if isinstance(context.get(name), str | int | float)}
    return {**field, "ctx": bounds} if bounds else field


_BOUNDS: Final = (
    *("gt", "ge", "lt", "le", "expected", "field_type"),
    *("min_length", "max_length", "actual_length", "pattern"),
)
"""The parts of an error's context that do not repeat values of the request."""


def _bad_fields(fields: list[dict[str, Any]]) -> JSONResponse:
    return JSONResponse({"error": "Validation Error", "detail": fields}, 422)

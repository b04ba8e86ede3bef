"""HTTP error responses that several endpoints share, with the time after which to retry."""

import math
from typing import Any, Final

from fastapi import HTTPException

STORAGE_RETRY_AFTER_S: Final = 1
"""While Redis is unavailable: a restart takes about as long."""


ERROR_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"description": "Final: the request cannot be parsed, or holds a value that is not allowed."},
    401: {"description": "Final: the token is missing, invalid or expired."},
    403: {"description": "Final: the token is for something else, or its trial is closed."},
    413: {"description": "Final: the body is too large."},
    415: {"description": "Final: the content type or encoding is not supported."},
    429: {"description": "Retry later: this caller exceeds its share. Retry-After says when."},
    503: {"description": "Retry later: storage is full or unavailable. Retry-After says when."},
}
"""By status, for the OpenAPI document."""


def storage_unavailable() -> HTTPException:
    """503: nothing was stored, and the client may send the same request again."""
    return HTTPException(503, "storage is away", {"Retry-After": str(STORAGE_RETRY_AFTER_S)})


def trial_closed() -> HTTPException:
    """403: a token expires when its trial closes."""
    return HTTPException(403, "the trial is closed, and its tokens with it")


def too_many_requests(message: str, after_s: float) -> HTTPException:
    """429: this caller exceeds its share, and may retry after so many seconds."""
    return HTTPException(429, message, {"Retry-After": str(max(1, math.ceil(after_s)))})

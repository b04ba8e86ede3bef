"""The refusals that several routes share, with when to come back."""

import math
from typing import Any, Final

from fastapi import HTTPException

RETRY_AFTER_S: Final = 1
"""For a Redis that is away: a restart takes about as long."""


REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"description": "Final: it cannot be read, or says what it must not."},
    401: {"description": "Final: the token is missing, none of ours, or expired."},
    403: {"description": "Final: the token is for something else, or its trial is closed."},
    413: {"description": "Final: it is too large."},
    415: {"description": "Final: the content type or encoding is none that is taken."},
    429: {"description": "Later: this caller sends more than its share. Retry-After says when."},
    503: {"description": "Later: storage is full or away. Retry-After says when."},
}
"""For the OpenAPI document."""


def storage_is_away() -> HTTPException:
    """503: nothing was stored, and the same request may be sent again."""
    return HTTPException(503, "storage is away", {"Retry-After": str(RETRY_AFTER_S)})


def trial_is_closed() -> HTTPException:
    """403: with its trial, a token has ended."""
    return HTTPException(403, "the trial is closed, and its tokens with it")


def too_many(what: str, after_s: float) -> HTTPException:
    """429: this caller sends more than its share."""
    return HTTPException(429, what, {"Retry-After": str(max(1, math.ceil(after_s)))})

"""The refusals that several routes share, with when to come back."""

import math
from typing import Final

from fastapi import HTTPException

RETRY_AFTER_S: Final = 1
"""For a Redis that is away: a restart takes about as long."""


def storage_is_away() -> HTTPException:
    """503: nothing was stored, and the same request may be sent again."""
    return HTTPException(503, "storage is away", {"Retry-After": str(RETRY_AFTER_S)})


def too_many(what: str, after_s: float) -> HTTPException:
    """429: this caller sends more than its share."""
    return HTTPException(429, what, {"Retry-After": str(max(1, math.ceil(after_s)))})

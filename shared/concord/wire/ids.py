"""Ids and URLs. Ids of traces and steps have the form of W3C Trace Context, so that OpenTelemetry accepts them."""

import re
import secrets
from typing import Annotated
from uuid import uuid4

from pydantic import StringConstraints

MAX_ID_LENGTH = 64
"""Longest step, trace, batch or agent id that is taken (characters)."""

MAX_URL_LENGTH = 2048

Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_LENGTH)]
Url = Annotated[str, StringConstraints(max_length=MAX_URL_LENGTH)]

_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")


def new_trace_id() -> str:
    """A new trace id: 32 lower-case hex digits."""
    return uuid4().hex


def new_step_id() -> str:
    """A new step id: 16 lower-case hex digits, the form of a W3C span id."""
    return secrets.token_hex(8)


def traceparent(trace_id: str, step_id: str) -> str | None:
    """The W3C `traceparent` header for a step, sampled; None if the ids do not have that form.

    Source: W3C Trace Context, section 3.2 (version 00).
    """
    if _TRACE_ID.fullmatch(trace_id) and _SPAN_ID.fullmatch(step_id):
        return f"00-{trace_id}-{step_id}-01"
    return None

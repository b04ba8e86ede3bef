"""The names of a step's attributes, and of fields in a call's request, that Concord writes and reads."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

AGENT_NAME: Final = "agent_name"
"""The agent that made the step: an agent inside the reporter or, in a step that the gateway observed, the caller."""

EDGE_KIND: Final = "edge_kind"
"""Of a call: its `EdgeKind`. A call without it is a delegation."""


class EdgeKind(StrEnum):
    """How a call connects two agents.

    An agent *delegates* to another one and gets the result; it *hands over* control and does not; members of a
    *conversation* hear each other; and in a *sequence*, one agent works after the other because the program says so.
    """

    DELEGATION = "delegation"
    HANDOFF = "handoff"
    CONVERSATION = "conversation"
    SEQUENCE = "sequence"


EDGE_KNOWN_BY: Final = "edge_known_by"
EDGE_SUPPORT: Final = "edge_support"
"""Of a call that a reader of spans found: its `KnownBy` and its `Support`. Other calls have neither."""


class KnownBy(StrEnum):
    """What a trace tells a call between two agents by.

    The callee's span is inside the caller's (*nesting*); *ids* of the framework name both; the name or the *arguments*
    of a tool name the callee; or the callee only worked after the caller, or within its *time*.
    """

    NESTING = "nesting"
    IDS = "ids"
    ARGUMENTS = "arguments"
    TIME = "time"


class Support(StrEnum):
    """What a second source in the trace says about a call: the same, nothing (so that it is inferred from one source),
    or something else."""

    CONFIRMED = "confirmed"
    INFERRED = "inferred"
    CONTRADICTED = "contradicted"


RETRY_OF: Final = "retry_of"
"""Of a repeated attempt: the step id of the attempt that it repeats."""

TASK_STATE: Final = "task_state"
"""Of a call that its callee answered, possibly with a failure: the state of the A2A task."""

RESPONSE_TEXT: Final = "response_text"
"""Of a call, also of a model: the text of its answer, as its reporter quotes it."""

TOOL_ARGUMENTS: Final = "arguments"
"""In a tool's `parameters`: its arguments as text, as JSON if they are structured."""

TOOL_RESULT: Final = "tool_result"
"""Attribute of a tool's use: its result as text."""

MODEL_INPUT: Final = "input"
"""In a model's `parameters`: the last message that it was sent."""

CONTEXT: Final = "context"
"""In `requests` and in a model's `parameters`: a number for the messages before the text. Two requests are the same
only if both are."""

FINISH_REASON: Final = "finish_reason"
"""Attribute of a model's call: why the model stopped."""

EXCEPTION: Final = "exception"
"""Attribute: an exception that was recorded in a step which did not fail."""

ERROR_TYPE: Final = "error_type"
"""Attribute of a step with an error or an exception: the type of what was thrown, or a status code."""

SPAN_NAME: Final = "span_name"
"""Attribute of own work that a span tells: the name of the span."""

UNQUOTED_WORDS: Final = "words"
"""In `requests`: words of the message that the quoted text does not contain, such as those in data parts."""

UNQUOTED_RESPONSE_WORDS: Final = "response_words"
"""Attribute: the same for the answer."""

REFUSED_BY: Final = "refused_by"
"""Attribute of a call that a limit of the gateway refused. Such a call counts as no agent's failure."""

GATEWAY: Final = "gateway"

NOT_CARRIED: Final = "not_carried"
"""Attribute of a call that the gateway did not forward, so that its callee read nothing of it."""

WHOLE: Final = "whole"
"""Of a call between seats whose message is more than its quoted text: all of it. In `requests`, and in attributes named
by `whole_pieces`."""

MAX_WHOLE: Final = 50_000
"""Limit on its characters."""

_PIECE: Final = 8000


def whole_pieces(text: str) -> dict[str, str]:
    """A whole message as attributes, which are limited in length."""
    pieces = [text[start : start + _PIECE] for start in range(0, min(len(text), MAX_WHOLE), _PIECE)]
    return {f"{WHOLE}_{number}": piece for number, piece in enumerate(pieces, start=1)}


def whole_of(attributes: Mapping[str, str]) -> str:
    """The whole message in the attributes of a step; empty if it is the quoted text."""
    pieces: list[str] = []
    while (piece := attributes.get(f"{WHOLE}_{len(pieces) + 1}")) is not None:
        pieces.append(piece)
    return "".join(pieces)


ROUND: Final = "round"
"""Attribute of a message between seats: the round in which it was sent."""

CUT_FROM: Final = "cut_from"
"""Attribute of a message between seats of which only the beginning was delivered: the characters that it had."""

MAX_UNQUOTED: Final = 8000
"""Limit on the words in either of them (characters): about the size of an attribute."""

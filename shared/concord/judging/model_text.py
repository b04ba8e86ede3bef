"""The text of a model's answer: its form, and the quotes in it."""

from collections.abc import Iterable
from typing import Any, Final

from concord.judging.injection import MARKER

MIN_QUOTE: Final = 12
"""The minimum characters of a quote. Shorter ones, such as `there is`, occur in almost any text."""


class UnreadableAnswerError(Exception):
    """The model's answer does not have the requested form."""


class CompromisedError(Exception):
    """The model found the canary, which is not in the evidence."""


def is_quoted_from(quote: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts contains the quote. A quote below `MIN_QUOTE` must be the whole text.

    Case and white space do not count. A quote cannot include the marker of a removed passage, which is not the agents'.
    """
    wanted = _collapsed(quote)
    parts = [_collapsed(part) for text in texts for part in text.split(MARKER)]
    return any(wanted in part for part in parts) if len(wanted) >= MIN_QUOTE else bool(wanted) and wanted in parts


def without_fence(text: str) -> str:
    """The text without a Markdown fence, which some endpoints add around JSON."""
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.partition("\n")[2].rpartition("```")[0]
    return stripped


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _collapsed(text: str) -> str:
    return " ".join(text.split()).casefold()

"""A model's answer: its schema, its form, and the quotes in it."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile
from json.encoder import encode_basestring_ascii
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from concord.files import first_fault
from concord.judging.injection import MARKER
from concord.judging.verdicts import POINTS, Verdict

# Truncation: shares a budget of characters fairly among texts, and cuts the texts that exceed their share.

EVIDENCE: Final = 48_000
"""The cost of all texts that a judge is sent, by default: about 12,000 tokens of English."""

_OMISSION: Final = " [...] "


def cost(text: str) -> int:
    """The characters of a text as it is sent: in JSON, with non-ASCII characters escaped."""
    return len(encode_basestring_ascii(text)) - 2


def fair_limit(costs: Sequence[int], budget: int) -> int:
    """The highest limit so that the sum of `min(cost, limit)` over all texts is at most `budget`."""
    left = budget
    for rank, each in enumerate(sorted(costs)):
        share = left // (len(costs) - rank)
        if each > share:
            return share
        left -= each
    return max(costs, default=0)


def cut(text: str, limit: int) -> str:
    """The text if its cost is at most `limit`; otherwise its beginning and end."""
    if cost(text) <= limit:
        return text
    half = (limit - len(_OMISSION)) // 2
    head, tail = _fitting(text, half), _fitting(text[::-1], half)
    return text[:head] + _OMISSION + text[len(text) - tail :]


def _fitting(text: str, limit: int) -> int:
    """The number of first characters with a total cost of at most `limit`."""
    first = text[: max(0, limit)]
    if cost(first) == len(first):
        return len(first)
    return sum(1 for _ in takewhile(lambda spent: spent <= limit, accumulate(map(cost, first))))


# The answer's schema, its form and its quotes.

MIN_QUOTE: Final = 12
"""The minimum characters of a quote. Shorter ones, such as `there is`, occur in almost any text."""


_Text = Annotated[str, StringConstraints(max_length=4000)]


class UnreadableAnswerError(Exception):
    """The model's answer does not have the requested form."""


class CompromisedError(Exception):
    """The model found the canary, which is not in the evidence."""


class Quote(BaseModel):
    """A quote, and the id of the text that it is from."""

    model_config = ConfigDict(extra="ignore")

    id: _Text
    quote: _Text


class Decision(BaseModel):
    """The verdict on one criterion, and its evidence."""

    model_config = ConfigDict(extra="ignore")

    criterion: _Text
    evidence: Annotated[list[Quote], Field(max_length=20)] = []
    verdict: Verdict


class ModelAnswer(BaseModel):
    """The requested form of the model's answer."""

    model_config = ConfigDict(extra="ignore")

    criteria: Annotated[list[Decision], Field(max_length=50)]
    reasoning: _Text = ""
    strengths: Annotated[list[_Text], Field(max_length=20)] = []
    weaknesses: Annotated[list[_Text], Field(max_length=20)] = []


def answer_schema(criteria: Sequence[str], remarks: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON schema of an answer on criteria with these ids. Each criterion has its evidence before its verdict.

    `remarks`: names of further lists of texts.
    """
    quote = closed_object({"id": {"type": "string"}, "quote": {"type": "string"}})
    decision = closed_object(
        {
            "criterion": {"type": "string", "enum": list(criteria)},
            "evidence": {"type": "array", "items": quote},
            "verdict": {"type": "string", "enum": list(POINTS)},
        }
    )
    texts = {"type": "array", "items": {"type": "string"}}
    return closed_object(
        {
            "criteria": {"type": "array", "items": decision},
            "reasoning": {"type": "string"},
            **dict.fromkeys(remarks, texts),
        }
    )


def parsed_answer(text: str) -> ModelAnswer:
    """The answer in a model's text. Raises UnreadableAnswerError."""
    try:
        return ModelAnswer.model_validate_json(without_fence(text))
    except ValidationError as error:
        raise UnreadableAnswerError(first_fault(error)) from error


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

"""Scorers: how a task says that its answers are graded. Names and options follow inspect_ai where it has them."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, TypeAdapter, model_validator

from concord.steps import Id

MAX_TARGETS: Final = 200
MAX_TARGET: Final = 10_000
"""Characters of one accepted answer."""

_Text = Annotated[str, Field(min_length=1, max_length=MAX_TARGET)]


class _Choice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ExactScorer(_Choice):
    """1 if the answer is a target, apart from case, punctuation, articles and white space."""

    name: Literal["exact"] = "exact"


class IncludesScorer(_Choice):
    """1 if the answer contains a target; with `match_all`, the share of the targets that it contains.

    0 if it contains one of `forbidden`, or is longer than `max_length` characters: listing everything does not pass.
    """

    name: Literal["includes"] = "includes"
    ignore_case: bool = True
    match_all: bool = False
    forbidden: Annotated[list[_Text], Field(max_length=MAX_TARGETS)] = []
    max_length: Annotated[int, Field(ge=1)] | None = None


class MatchScorer(_Choice):
    """1 if the answer has a target at `location`. `numeric`: the first or last number there is compared instead."""

    name: Literal["match"] = "match"
    location: Literal["begin", "end", "any", "exact"] = "end"
    ignore_case: bool = True
    numeric: bool = False


class PatternScorer(_Choice):
    """1 if the group of a regular expression that first matches is a target; without a target, if it matches at all.

    With `match_all`, every group must be a target.
    """

    name: Literal["pattern"] = "pattern"
    pattern: _Text
    ignore_case: bool = True
    match_all: bool = False


class NumericScorer(_Choice):
    """1 if the last number of the answer is a target, give or take `tolerance` or `relative_tolerance`."""

    name: Literal["numeric"] = "numeric"
    tolerance: Annotated[float, Field(ge=0)] = 0
    relative_tolerance: Annotated[float, Field(ge=0)] = 0


class JsonScorer(_Choice):
    """Grades the JSON in the answer: the share of `values` (by JSON Pointer, RFC 6901) that it has, if a `schema` fits.

    With a schema alone, 1 if it fits. The last JSON object or array of the answer counts.
    """

    name: Literal["json"] = "json"
    schema_: Annotated[dict[str, JsonValue] | None, Field(alias="schema")] = None
    values: Annotated[dict[str, JsonValue], Field(max_length=MAX_TARGETS)] = {}
    tolerance: Annotated[float, Field(ge=0)] = 0
    """How far a number may be off."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self.schema_ is None and not self.values:
            raise ValueError("give a `schema` or `values`")
        if wrong := [path for path in self.values if path and not path.startswith("/")]:
            raise ValueError(f"{wrong[0]!r} is no JSON Pointer: it starts with a slash")
        return self


class ModelScorer(_Choice):
    """The judge grades the answer; it is shown the target, if there is one."""

    name: Literal["model"] = "model"


class PackageScorer(_Choice):
    """A scorer that another package adds; what it takes is passed on to it."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: Id

    @property
    def options(self) -> dict[str, Any]:
        """Everything but the name."""
        return dict(self.model_extra or {})


_OWN: Final = (ExactScorer, IncludesScorer, MatchScorer, PatternScorer, NumericScorer, JsonScorer, ModelScorer)
_NAMES: Final = frozenset(each.model_fields["name"].default for each in _OWN)

NEED_TARGET: Final = frozenset({"exact", "includes", "match", "numeric"})
"""The scorers that compare with a target, and so cannot do without one."""


def _kind(value: object) -> str:
    name = value.get("name") if isinstance(value, dict) else getattr(value, "name", None)
    return name if isinstance(name, str) and name in _NAMES else "package"


ScorerChoice = Annotated[
    Annotated[ExactScorer, Tag("exact")]
    | Annotated[IncludesScorer, Tag("includes")]
    | Annotated[MatchScorer, Tag("match")]
    | Annotated[PatternScorer, Tag("pattern")]
    | Annotated[NumericScorer, Tag("numeric")]
    | Annotated[JsonScorer, Tag("json")]
    | Annotated[ModelScorer, Tag("model")]
    | Annotated[PackageScorer, Tag("package")],
    Discriminator(_kind),
]
"""A scorer with its options. A name that is none of ours is a package's."""

SCORER_CHOICE: Final[TypeAdapter[Any]] = TypeAdapter(ScorerChoice)


def named_scorer(value: object) -> object:
    """A scorer that is given by its name alone, in the form that has options."""
    return {"name": value} if isinstance(value, str) else value

"""Scorers: how a task says that its answers are graded. Names and options follow inspect_ai where it has them."""

import re
import warnings
from collections.abc import Mapping
from functools import cache
from math import prod
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    TypeAdapter,
    field_validator,
    model_validator,
)

from concord.entry_points import entry_points
from concord.wire.roster import Id

MAX_TARGETS: Final = 200
MAX_TARGET: Final = 10_000
"""Characters of one accepted answer."""

MAX_PATTERN: Final = 1000
"""Characters of a regular expression."""

MAX_REPEATS: Final = 100_000
"""How far counted repetitions of groups may multiply: an engine that unrolls them needs memory for each."""

TargetText = Annotated[str, Field(min_length=1, max_length=MAX_TARGET, pattern=r"\S")]
"""A text to look for in an answer: not blank."""

_COUNTED: Final = re.compile(r"(\))?\{(\d+)(?:,\d*)?\}")
_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


def repeats(pattern: str) -> int:
    """How often a regular expression may repeat a part of itself at least, were all its repeated groups nested."""
    counts = [(group, int(least)) for group, least in _COUNTED.findall(pattern)]
    of_groups = prod(max(1, least) for group, least in counts if group)
    return of_groups * max((least for group, least in counts if not group), default=1)


def syntax_errors(patterns: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with patterns that are no regular expressions of Python's `re`, by the name of the pattern.

    To compile one may take a second for each thousand characters: not for an event loop, or for a thread.
    """
    found: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a later Python may read differently
        for name, pattern in patterns.items():
            try:
                re.compile(pattern)
            except (re.error, OverflowError, RecursionError) as error:
                found[name] = f"is not a regular expression: {error}"
    return found


class _ScorerOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ExactScorer(_ScorerOptions):
    """1 if the answer is a target, apart from case, punctuation, English articles and white space."""

    name: Literal["exact"] = "exact"


class IncludesScorer(_ScorerOptions):
    """1 if the answer contains a target, as whole words; with `match_all`, the share of the targets that it contains.

    0 if it contains one of `forbidden`, or is longer than `max_length` characters (white space around it not counted).
    Set one of these where a list of everything that might be right should not pass.
    """

    name: Literal["includes"] = "includes"
    ignore_case: bool = True
    match_all: bool = False
    forbidden: Annotated[list[TargetText], Field(max_length=MAX_TARGETS)] = []
    max_length: Annotated[int, Field(ge=1)] | None = None


class MatchScorer(_ScorerOptions):
    """1 if the answer has a target at `location`, as whole words; `exact`: if it is a target, case and edges apart.

    With `numeric`, a target that is a number is compared with a number of the answer: its first (`begin`), its last
    (`end`), each (`any`), or the one that is all of it (`exact`).
    """

    name: Literal["match"] = "match"
    location: Literal["begin", "end", "any", "exact"] = "end"
    ignore_case: bool = True
    numeric: bool = False


class PatternScorer(_ScorerOptions):
    """1 if a group of the first match of a regular expression is a target; without targets, if there is a match.

    With `match_all`, every group that took part in the match must be one. Without groups, the whole match counts as
    one. The syntax is that of Python's `re`: see `syntax_errors`. The search has a time limit.
    """

    name: Literal["pattern"] = "pattern"
    pattern: Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)]
    ignore_case: bool = True
    match_all: bool = False

    @field_validator("pattern")
    @classmethod
    def _repeats_little(cls, pattern: str) -> str:
        if repeats(pattern) > MAX_REPEATS:
            raise ValueError(f"has counted repetitions that multiply to more than {MAX_REPEATS:,}")
        return pattern


class NumericScorer(_ScorerOptions):
    """1 if the last number of the answer is a target, give or take the larger of the two tolerances.

    `tolerance` is absolute; `relative_tolerance` is a share of the target.
    """

    name: Literal["numeric"] = "numeric"
    tolerance: Annotated[float, Field(ge=0)] = 0
    relative_tolerance: Annotated[float, Field(ge=0)] = 0


class JsonScorer(_ScorerOptions):
    """The share of `values` (by JSON Pointer, RFC 6901) that the JSON in the answer has, if it fits `schema`.

    With a schema alone, 1 if it fits. The JSON is the whole answer, else its last fenced block that is JSON, else the
    last object or array in it. Targets have no part in it.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    name: Literal["json"] = "json"
    schema_: Annotated[dict[str, JsonValue] | None, Field(alias="schema")] = None
    """JSON Schema; draft 2020-12, unless `$schema` says otherwise."""
    values: Annotated[dict[str, JsonValue], Field(max_length=MAX_TARGETS)] = {}
    tolerance: Annotated[float, Field(ge=0)] = 0
    """How far a number may be off."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self.schema_ is None and not self.values:
            raise ValueError("give a `schema` or `values`")
        if wrong := [path for path in self.values if not _POINTER.fullmatch(path)]:
            raise ValueError(f"{wrong[0]!r} is not a JSON Pointer, such as `/city` or `/stops/0/name`")
        return self


class ModelScorer(_ScorerOptions):
    """The judge grades the answer; it is shown the target, if there is one."""

    name: Literal["model"] = "model"


class PackageScorer(_ScorerOptions):
    """A scorer of another package. Its options are passed on unchanged."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: Id

    @property
    def options(self) -> dict[str, Any]:
        """Everything but the name."""
        return dict(self.model_extra or {})


_OWN: Final = (ExactScorer, IncludesScorer, MatchScorer, PatternScorer, NumericScorer, JsonScorer, ModelScorer)
SCORER_NAMES: Final = tuple(str(each.model_fields["name"].default) for each in _OWN)
"""The names of our own scorers; any other name is a package's."""

NEED_TARGET: Final = frozenset({"exact", "includes", "match", "numeric"})
"""The scorers that compare with a target, and so cannot do without one."""

ENTRY_POINT_GROUP: Final = "concord.scorers"
"""The group of entry points in which packages offer scorers."""


@cache
def known_scorers() -> tuple[str, ...]:
    """The names of our own scorers, and of those that packages in this environment offer.

    They are looked for once: that reads a file of every installed package, which takes longer than a trial.
    """
    return (*SCORER_NAMES, *sorted(entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)))


def _kind(value: object) -> str:
    name = value.get("name") if isinstance(value, dict) else getattr(value, "name", None)
    return name if isinstance(name, str) and name in SCORER_NAMES else "package"


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

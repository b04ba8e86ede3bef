"""A scenario: `scenario.json` of its folder, with the environment's initial state."""

from datetime import timedelta
from typing import Annotated, Any, Final, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from concord_assistant.durations import Delay, Duration
from concord_assistant.results import Dimension

MAX_CHARACTERS: Final = 100
MAX_CRITERIA: Final = 100

CORE_MODALITIES: Final = ("email", "sms", "calendar", "chat")
"""The modalities that an initial state must have."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ResponseTiming(_Part):
    """When a character replies: `base_delay` plus or minus at most `variance`, in simulated time."""

    base_delay: Delay
    variance: Delay = timedelta()


class CharacterProfile(_Part):
    """A person whom the environment simulates."""

    name: Line
    relationships: dict[str, str] = {}
    """What this character is to others, by the others' names."""
    personality: Text
    email: str | None = None
    phone: str | None = None
    response_timing: ResponseTiming
    special_instructions: str | None = None
    config: dict[str, JsonValue] | None = None

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.email is None and self.phone is None:
            raise ValueError(f"{self.name!r} needs an `email` or a `phone`")
        return self


class EvaluationCriterion(_Part):
    """A criterion: a function of the scenario's `evaluators.py`, a prompt for a model, or both.

    With both, the function's verdict stands and the prompt can only lower the score.
    """

    criterion_id: Name
    name: Line
    description: Text
    dimension: Dimension
    max_score: Annotated[int, Field(ge=1, le=100)]
    evaluator_id: Name | None = None
    evaluation_prompt: Text | None = None
    params: dict[str, JsonValue] = {}

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: object) -> object:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _can_be_evaluated(self) -> Self:
        if self.evaluator_id is None and self.evaluation_prompt is None:
            raise ValueError(f"criterion {self.criterion_id!r} needs an `evaluator_id` or an `evaluation_prompt`")
        return self


class ScenarioConfig(_Part):
    """A scenario. `initial_state` is the body of the environment's `POST /scenario/import/full`."""

    scenario_id: Name
    name: Line
    description: Text
    start_time: AwareDatetime
    end_time: AwareDatetime
    default_time_step: Duration
    max_turns: Annotated[int, Field(ge=1, le=1000)] | None = None
    user_prompt: Text
    """The task, delivered to the assistant by chat."""
    user_character: str
    """The key of the user in `characters`."""
    characters: Annotated[dict[str, CharacterProfile], Field(min_length=1, max_length=MAX_CHARACTERS)]
    initial_state: dict[str, Any]
    criteria: Annotated[list[EvaluationCriterion], Field(min_length=1, max_length=MAX_CRITERIA)]
    early_completion_conditions: list[str] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.start_time >= self.end_time:
            raise ValueError("`start_time` must be before `end_time`")
        if self.user_character not in self.characters:
            raise ValueError(f"`user_character` {self.user_character!r} is none of {', '.join(self.characters)}")
        _distinct("criterion_id", [criterion.criterion_id for criterion in self.criteria])
        _distinct("email", [each.email.casefold() for each in self.characters.values() if each.email])
        _distinct("phone", [each.phone for each in self.characters.values() if each.phone])
        return self

    @property
    def user(self) -> CharacterProfile:
        """The user whom the assistant serves."""
        return self.characters[self.user_character]

    @property
    def max_score(self) -> int:
        """The points of all criteria."""
        return sum(criterion.max_score for criterion in self.criteria)


def _distinct(field: str, values: list[str]) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f"`{field}` must be distinct: {', '.join(twice)}")

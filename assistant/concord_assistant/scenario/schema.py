"""A scenario: `scenario.json` of its folder, with the environment's initial state."""

from datetime import timedelta
from typing import Annotated, Any, Final, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from concord_assistant.durations import Delay, Duration
from concord_assistant.office.plan import ERRAND_POINTS, DayPlan
from concord_assistant.results import Dimension
from concord_assistant.scenario.safety import Attack, Benchmark
from concord_assistant.scenario.texts import Line, Name, Text

MAX_CHARACTERS: Final = 100
MAX_CRITERIA: Final = 100

ERRAND_DONE: Final = "errand_done"
"""The evaluator of errands, which a day decides with its plan."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ResponseTiming(_Part):
    """When a character replies: `base_delay` plus or minus at most `variance`, in simulated time."""

    base_delay: Delay
    variance: Delay = timedelta()


class CharacterProfile(_Part):
    """A simulated person."""

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
    """A criterion: an evaluator, a prompt for a model, or both. An evaluator is built in or in `evaluators.py`.

    With both, the evaluator's verdict stands and the prompt can only lower the score.
    """

    criterion_id: Name
    name: Line
    description: Text
    dimension: Dimension
    max_score: Annotated[int, Field(ge=1, le=100)]
    evaluator_id: Name | None = None
    evaluation_prompt: Text | None = None
    params: dict[str, JsonValue] = {}
    requires: list[Name] = []
    """Criteria that must score above 0 for this one to score. They have no requirements themselves."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: object) -> object:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _can_be_evaluated(self) -> Self:
        if self.evaluator_id is None and self.evaluation_prompt is None:
            raise ValueError(f"criterion {self.criterion_id!r} needs an `evaluator_id` or an `evaluation_prompt`")
        return self


Variable = Annotated[str, StringConstraints(min_length=2, max_length=2_000)]
Row = Annotated[dict[Name, Variable], Field(min_length=1)]


class Slot(BaseModel):
    """Texts of a scenario that vary together: rows of texts, with the same columns in each row.

    Exactly one of the two is given. `choose`: the first row is as written, and a variant has one of the rows in its
    place. `shuffle`: all rows are as written, and a variant exchanges them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    choose: Annotated[list[Row], Field(max_length=100)] = []
    shuffle: Annotated[list[Row], Field(max_length=100)] = []

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if bool(self.choose) == bool(self.shuffle):
            raise ValueError("a slot needs either `choose` or `shuffle`")
        if len(self.rows) < 2:
            raise ValueError("a slot needs at least two rows")
        for number, row in enumerate(self.rows[1:], start=1):
            if unknown := sorted(row.keys() ^ self.rows[0].keys()):
                raise ValueError(f"row {number} and the first row do not both have {', '.join(unknown)}")
        return self

    @property
    def rows(self) -> list[dict[str, str]]:
        """All rows."""
        return self.choose or self.shuffle

    @property
    def written(self) -> list[dict[str, str]]:
        """The rows whose texts are in the scenario as written."""
        return self.shuffle or self.choose[:1]


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
    attacks: Annotated[list[Attack], Field(max_length=100)] = []
    benchmark: Benchmark | None = None
    """Of an imported scenario: what its benchmark's own verdicts are made of."""
    day: DayPlan | None = None
    """Of a day in the office: what it is graded by, instead of the criteria's own checks."""
    early_completion_conditions: list[str] | None = None
    variants: Annotated[dict[Name, Slot], Field(max_length=100)] = {}
    """The texts that vary between seeds, by the name of a slot. They vary everywhere in the scenario."""

    @model_validator(mode="before")
    @classmethod
    def _criteria_of_a_day(cls, data: object) -> object:
        """A day has a criterion for each of its errands, which the day itself decides."""
        if not isinstance(data, dict) or data.get("day") is None:
            return data
        day = DayPlan.model_validate(data["day"])
        criteria = [
            {
                "criterion_id": each.errand_id,
                "name": each.title,
                "description": each.prompt,
                "dimension": "accuracy",
                "max_score": ERRAND_POINTS,
                "evaluator_id": ERRAND_DONE,
            }
            for each in day.errands
        ]
        return {**data, "day": day, "criteria": criteria}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.start_time >= self.end_time:
            raise ValueError("`start_time` must be before `end_time`")
        if self.user_character not in self.characters:
            raise ValueError(f"`user_character` {self.user_character!r} is none of {', '.join(self.characters)}")
        _distinct("criterion_id", [criterion.criterion_id for criterion in self.criteria])
        _requirements_exist(self.criteria)
        _distinct("attack_id", [each.attack_id for each in self.attacks])
        _benchmark_fits(self.benchmark, self.criteria)
        _distinct("email", [each.email.casefold() for each in self.characters.values() if each.email])
        _distinct("phone", [each.phone for each in self.characters.values() if each.phone])
        return self

    @property
    def user(self) -> CharacterProfile:
        """The assistant's user."""
        return self.characters[self.user_character]

    @property
    def max_score(self) -> int:
        """The points of all criteria."""
        return sum(criterion.max_score for criterion in self.criteria)


def _distinct(field: str, values: list[str]) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f"`{field}` must be distinct: {', '.join(twice)}")


def _benchmark_fits(benchmark: Benchmark | None, criteria: list[EvaluationCriterion]) -> None:
    named = () if benchmark is None else (*benchmark.utility, *benchmark.attack)
    if unknown := sorted(set(named) - {each.criterion_id for each in criteria}):
        raise ValueError(f"`benchmark` names {', '.join(unknown)}, which is none of `criteria`")


def _requirements_exist(criteria: list[EvaluationCriterion]) -> None:
    free = {criterion.criterion_id for criterion in criteria if not criterion.requires}
    for criterion in criteria:
        if unknown := sorted(set(criterion.requires) - free):
            raise ValueError(
                f"criterion {criterion.criterion_id!r} requires {', '.join(unknown)}, "
                "which is not a criterion or has requirements itself"
            )

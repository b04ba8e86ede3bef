"""What callers see of a modality: its state by pages, its state in short, and the answers to queries."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord_environment.modalities.fields import DEFAULT_PAGE, MAX_PAGE, Moment
from concord_environment.modalities.world import EnvironmentWorld

Q = TypeVar("Q", bound=BaseModel)


class StatePage(BaseModel):
    """Which part of a state: the latest `limit` items after the first `offset`, of those since a moment."""

    model_config = ConfigDict(frozen=True)

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = DEFAULT_PAGE
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    since: Moment | None = None

    @property
    def stop(self) -> int:
        """The place behind the last item."""
        return self.offset + self.limit


class StateView(BaseModel):
    """What every view of a state begins with."""

    modality_type: str
    current_time: datetime
    last_updated: datetime
    update_count: int


class QueryAnswer(BaseModel):
    """What every answer to a query has beside what was found."""

    modality_type: str
    query: dict[str, JsonValue]
    total_count: int
    returned_count: int


@dataclass(frozen=True, slots=True)
class Views(Generic[Q]):
    """The views of one modality. `brief` is the compact state, small enough for a prompt."""

    modality: str
    state: Callable[[EnvironmentWorld, datetime, StatePage], StateView]
    state_type: type[StateView]
    brief: Callable[[EnvironmentWorld, datetime], StateView]
    brief_type: type[StateView]
    query_type: type[Q]
    answer: Callable[[EnvironmentWorld, datetime, Q], QueryAnswer]
    answer_type: type[QueryAnswer]


AnyViews = Views[Any]


def heading(world: EnvironmentWorld, modality: str, now: datetime) -> dict[str, Any]:
    """The fields of `StateView`."""
    upkeep = world.upkeep(modality)
    return {
        "modality_type": modality,
        "current_time": now,
        "last_updated": upkeep.last_updated,
        "update_count": upkeep.update_count,
    }


def finding(modality: str, query: BaseModel, found: int, total: int) -> dict[str, Any]:
    """The fields of `QueryAnswer`."""
    asked = query.model_dump(mode="json", exclude_unset=True)
    return {"modality_type": modality, "query": asked, "total_count": total, "returned_count": found}

"""A modality that the service does not have, complete in this module: the user's moods."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from concord_environment.core.actions import Action
from concord_environment.core.clock import to_us
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.documents import ScenarioForm, StateDocument, load_rows
from concord_environment.modalities.fields import Id, Moment, Name, Page
from concord_environment.modalities.modality import (
    Implementation,
    Modality,
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    view_fields,
)
from concord_environment_client.endpoints import S
from concord_environment_client.operations import (
    CREATES,
    TEXT,
    Items,
    ModalityCalls,
    Operation,
    QueryCall,
    StateCall,
    Tool,
)
from concord_environment_client.responses import Json


class MoodCalls(ModalityCalls[S]):
    """The user's moods."""

    name: ClassVar = "mood"
    items: ClassVar = (Items("moods", "mood_id", content=("feeling",)),)

    get_state = StateCall("/mood/state", Json)
    query = QueryCall("/mood/query", Json, Tool("Finds the moods with one feeling.", {"feeling": TEXT}))
    feel = Operation("/mood/feel", "feel", CREATES, Tool("Adds a mood.", {"feeling": TEXT}))


@dataclass(frozen=True, slots=True)
class Mood:
    """A mood of the user and its time."""

    mood_id: Id
    felt_at: Moment
    feeling: Name


class MoodState:
    """The user's moods in the order of their times."""

    def __init__(self) -> None:
        self.moods: Table[Mood] = Table("mood.moods", Mood, order=lambda mood: (to_us(mood.felt_at),))

    @property
    def tables(self) -> tuple[Table[Mood]]:
        return (self.moods,)


class Feel(Action):
    """Adds a mood."""

    modality: ClassVar[str] = "mood"
    operation: Literal["feel"] = "feel"
    feeling: Name


def _feel(world: States, action: Feel, transaction: Transaction) -> None:
    mood = Mood(transaction.new_id(), transaction.now, action.feeling)
    transaction.put(world[MoodState].moods, mood.mood_id, mood)


class MoodView(StateView):
    """All moods."""

    moods: list[Mood]


class MoodQuery(Page):
    """A query for the moods with one feeling."""

    feeling: Name


class MoodAnswer(QueryAnswer):
    """The moods that were found."""

    moods: list[Mood]


def _brief(world: States, now: datetime) -> MoodView:
    return MoodView(**view_fields(world, "mood", now), moods=list(world[MoodState].moods.rows()))


def _state(world: States, now: datetime, page: StatePage) -> MoodView:
    return _brief(world, now).model_copy(update={"moods": world[MoodState].moods.window(page.first, page.stop)})


def _find(world: States, now: datetime, query: MoodQuery) -> tuple[list[Mood], int]:  # noqa: ARG001 - one signature
    found = [mood for mood in world[MoodState].moods.rows() if mood.feeling == query.feeling]
    return found, len(found)


def _as_text(brief: MoodView) -> Iterator[str]:
    yield f"MOOD: {brief.moods[-1].feeling if brief.moods else 'none'}"


class MoodDocument(StateDocument):
    """The moods as in a scenario."""

    moods: dict[Id, Mood] = Field(default_factory=dict)


def _load(state: MoodState, document: MoodDocument) -> None:
    load_rows(state.moods, document.moods, "mood_id")


def _dump(state: MoodState) -> dict[str, Any]:
    return {"moods": dict(state.moods.items())}


def _inconsistencies(state: MoodState) -> Iterator[str]:
    return (f"mood: {mood.mood_id} contradicts itself" for mood in state.moods.rows() if mood.feeling == "nothing")


MODALITY: Final = Modality(
    calls=MoodCalls,
    description="the user's moods",
    state=MoodState,
    implementations=(Implementation(MoodCalls.feel, Feel, _feel),),
    default_operation="feel",
    views=Views(_state, MoodView, _brief, MoodView, MoodQuery, _find, MoodAnswer, _as_text),
    scenario=ScenarioForm(MoodDocument, _load, _dump),
    inconsistencies=_inconsistencies,
)

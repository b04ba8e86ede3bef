"""The modality `time`: the user's preferences for times and dates.

The code says "preferences", because the API also calls the clock (`/simulator/time`) "time".
"""

from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from concord_environment.core.actions import Action
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.documents import ScenarioForm, StateDocument
from concord_environment.modalities.fields import Name, Page, Zone
from concord_environment.modalities.modality import (
    ONLY_KEY,
    Modality,
    Operation,
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    answer_fields,
    view_fields,
)

NAME: Final = "time"
"""The name of the modality in the API."""

DateFormat = Literal["MM/DD/YYYY", "DD/MM/YYYY", "YYYY-MM-DD", "YYYY/MM/DD", "DD.MM.YYYY", "DD-MM-YYYY"]


@dataclass(frozen=True, slots=True)
class TimePreferences:
    """The user's preferences for times and dates."""

    timezone: Zone = "UTC"
    format_preference: Literal["12h", "24h"] = "12h"
    date_format: DateFormat | None = None
    locale: Name | None = None
    week_start: Literal["sunday", "monday"] | None = None


class PreferencesState:
    """The user's preferences, in one row."""

    def __init__(self) -> None:
        self.preferences: Table[TimePreferences] = Table("time.preferences", TimePreferences)

    @property
    def tables(self) -> tuple[Table[TimePreferences]]:
        """The tables."""
        return (self.preferences,)

    @property
    def current(self) -> TimePreferences:
        """The current preferences."""
        return self.preferences.get(ONLY_KEY) or TimePreferences()


class UpdatePreferences(Action):
    """Changes the given preferences for times and dates. Fields that are absent or null stay as they are."""

    modality: ClassVar[str] = NAME
    operation: Literal["update"] = "update"
    timezone: Zone | None = None
    format_preference: Literal["12h", "24h"] | None = None
    date_format: DateFormat | None = None
    locale: Name | None = None
    week_start: Literal["sunday", "monday"] | None = None


def _update(world: States, action: UpdatePreferences, transaction: Transaction) -> None:
    state = world[PreferencesState]
    changes = action.model_dump(exclude={"operation"}, exclude_none=True)
    transaction.put(state.preferences, ONLY_KEY, replace(state.current, **changes))


class PreferencesView(StateView):
    """The current preferences for times and dates."""

    preferences: TimePreferences


class PreferencesAnswer(QueryAnswer):
    """The current preferences, as a list of one item."""

    preferences: list[TimePreferences]


def _brief(world: States, now: datetime) -> PreferencesView:
    return PreferencesView(**view_fields(world, NAME, now), preferences=world[PreferencesState].current)


def _state(world: States, now: datetime, page: StatePage) -> PreferencesView:  # noqa: ARG001 - one signature
    return _brief(world, now)


def _answer(world: States, now: datetime, query: Page) -> PreferencesAnswer:  # noqa: ARG001 - one signature
    return PreferencesAnswer(**answer_fields(NAME, query, 1, 1), preferences=[world[PreferencesState].current])


class PreferencesDocument(StateDocument):
    """The user's preferences for times and dates."""

    timezone: Zone = "UTC"
    format_preference: Literal["12h", "24h"] = "12h"
    date_format: DateFormat | None = None
    locale: Name | None = None
    week_start: Literal["sunday", "monday"] | None = None


def _load(state: PreferencesState, document: PreferencesDocument) -> None:
    given = {field.name: getattr(document, field.name) for field in fields(TimePreferences)}
    state.preferences.write(ONLY_KEY, TimePreferences(**given))


def _dump(state: PreferencesState) -> dict[str, Any]:
    return asdict(state.current)


MODALITY: Final = Modality(
    name=NAME,
    description="the user's preferences for times and dates",
    state=PreferencesState,
    operations=(Operation(UpdatePreferences, _update, "update", "time:preferences", "time.preferences"),),
    default_operation="update",
    views=Views(_state, PreferencesView, _brief, PreferencesView, Page, _answer, PreferencesAnswer),
    scenario=ScenarioForm(PreferencesDocument, _load, _dump),
)

"""The modality `time`: the user's preferences for times and dates.

The code says "preferences", because the API also calls the clock (`/simulator/time`) "time".
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BaseModel, Field

from concord_environment.core.actions import Action
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.documents import ScenarioForm, StateDocument
from concord_environment.modalities.fields import Moment, Name, Page, Zone
from concord_environment.modalities.modality import (
    ONLY_KEY,
    Implementation,
    Modality,
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    view_fields,
)
from concord_environment_client.modalities.preferences import PreferencesCalls

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


MAX_HISTORY: Final = 50
"""The number of earlier preferences that the state keeps."""


@dataclass(frozen=True, slots=True)
class EarlierPreferences:
    """Preferences that the user replaced at `timestamp`."""

    timestamp: Moment
    preferences: TimePreferences
    sequence: int = 0


class PreferencesState:
    """The user's preferences, in one row, and the earlier ones in the order of time."""

    def __init__(self) -> None:
        self.preferences: Table[TimePreferences] = Table("time.preferences", TimePreferences)
        self.history: Table[EarlierPreferences] = Table(
            "time.history", EarlierPreferences, order=lambda earlier: (earlier.sequence,)
        )

    @property
    def tables(self) -> tuple[Table[TimePreferences], Table[EarlierPreferences]]:
        """The tables."""
        return self.preferences, self.history

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
    latest = state.history.window(0, 1, latest_first=True)
    sequence = latest[0].sequence + 1 if latest else 0
    replaced = EarlierPreferences(transaction.now, state.current, sequence)
    transaction.put(state.preferences, ONLY_KEY, replace(state.current, **changes))
    transaction.put(state.history, str(sequence), replaced)
    for oldest in state.history.window(0, max(0, len(state.history) - MAX_HISTORY)):
        transaction.drop(state.history, str(oldest.sequence))


class PreferencesView(StateView):
    """The current preferences for times and dates. `/environment/state` has the earlier ones."""

    preferences: TimePreferences


class PreferencesAnswer(QueryAnswer):
    """The current preferences, as a list of one item."""

    preferences: list[TimePreferences]


def _brief(world: States, now: datetime) -> PreferencesView:
    return PreferencesView(**view_fields(world, NAME, now), preferences=world[PreferencesState].current)


def _state(world: States, now: datetime, page: StatePage) -> PreferencesView:  # noqa: ARG001 - one signature
    return _brief(world, now)


def _find(world: States, now: datetime, query: Page) -> tuple[list[object], int]:  # noqa: ARG001 - one signature
    return [world[PreferencesState].current], 1


class SettingsDocument(BaseModel):
    """Preferences that the user replaced at `timestamp`."""

    timestamp: Moment
    timezone: Zone = "UTC"
    format_preference: Literal["12h", "24h"] = "12h"
    date_format: DateFormat | None = None
    locale: Name | None = None
    week_start: Literal["sunday", "monday"] | None = None


class PreferencesDocument(StateDocument):
    """The user's preferences for times and dates."""

    timezone: Zone = "UTC"
    format_preference: Literal["12h", "24h"] = "12h"
    date_format: DateFormat | None = None
    locale: Name | None = None
    week_start: Literal["sunday", "monday"] | None = None
    settings_history: list[SettingsDocument] = Field(default_factory=list)
    max_history_size: Annotated[int, Field(ge=0)] = MAX_HISTORY
    """UES's limit of the history. The service always keeps 50 earlier preferences."""


def _load(state: PreferencesState, document: PreferencesDocument) -> None:
    given = {field.name: getattr(document, field.name) for field in fields(TimePreferences)}
    state.preferences.write(ONLY_KEY, TimePreferences(**given))
    for sequence, settings in enumerate(document.settings_history):
        earlier = TimePreferences(**settings.model_dump(exclude={"timestamp"}))
        state.history.write(str(sequence), EarlierPreferences(settings.timestamp, earlier, sequence))


def _dump(state: PreferencesState) -> dict[str, Any]:
    earlier = [{"timestamp": one.timestamp, **asdict(one.preferences)} for one in state.history.rows()]
    return {**asdict(state.current), "settings_history": earlier}


def _as_text(brief: PreferencesView) -> Iterable[str]:
    yield f"TIME: {brief.preferences.timezone}, {brief.preferences.format_preference}"


MODALITY: Final = Modality(
    calls=PreferencesCalls,
    description="the user's preferences for times and dates",
    state=PreferencesState,
    implementations=(Implementation(PreferencesCalls.update, UpdatePreferences, _update),),
    default_operation="update",
    views=Views(_state, PreferencesView, _brief, PreferencesView, Page, _find, PreferencesAnswer, _as_text),
    scenario=ScenarioForm(PreferencesDocument, _load, _dump),
)

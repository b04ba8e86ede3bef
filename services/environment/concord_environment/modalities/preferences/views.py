"""What callers see of the user's preferences."""

from datetime import datetime
from typing import Final

from concord_environment.modalities.fields import Page
from concord_environment.modalities.preferences.records import TimePreferences
from concord_environment.modalities.views import QueryAnswer, StatePage, StateView, Views, finding, heading
from concord_environment.modalities.world import EnvironmentWorld


class PreferencesView(StateView):
    """The preferences that hold."""

    preferences: TimePreferences


class PreferencesAnswer(QueryAnswer):
    """The preferences that hold, as the only thing that can be found."""

    preferences: list[TimePreferences]


def _brief(world: EnvironmentWorld, now: datetime) -> PreferencesView:
    return PreferencesView(**heading(world, "time", now), preferences=world.preferences.current)


def _state(world: EnvironmentWorld, now: datetime, page: StatePage) -> PreferencesView:  # noqa: ARG001 - one signature
    return _brief(world, now)


def _answer(world: EnvironmentWorld, now: datetime, query: Page) -> PreferencesAnswer:  # noqa: ARG001 - one signature
    return PreferencesAnswer(**finding("time", query, 1, 1), preferences=[world.preferences.current])


PREFERENCES_VIEWS: Final = Views(
    "time", _state, PreferencesView, _brief, PreferencesView, Page, _answer, PreferencesAnswer
)

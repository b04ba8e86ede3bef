"""The modalities of the environment, each declared in its own module."""

from typing import Any, Final

from concord_environment_client.modalities.calendar import CalendarCalls
from concord_environment_client.modalities.chat import ChatCalls
from concord_environment_client.modalities.contacts import ContactsCalls
from concord_environment_client.modalities.email import EmailCalls
from concord_environment_client.modalities.location import LocationCalls
from concord_environment_client.modalities.preferences import PreferencesCalls
from concord_environment_client.modalities.sms import SMSCalls
from concord_environment_client.modalities.weather import WeatherCalls
from concord_environment_client.operations import ModalityCalls

MODALITIES: Final[tuple[type[ModalityCalls[Any]], ...]] = (
    EmailCalls,
    SMSCalls,
    CalendarCalls,
    ChatCalls,
    ContactsCalls,
    LocationCalls,
    WeatherCalls,
    PreferencesCalls,
)

"""The list of modalities. A new modality needs a module and an entry in this list."""

from typing import Final

from concord_environment.modalities import calendar, chat, contacts, email, location, preferences, sms, weather
from concord_environment.modalities.modality import AnyModality

MODALITIES: Final[tuple[AnyModality, ...]] = (
    email.MODALITY,
    sms.MODALITY,
    chat.MODALITY,
    calendar.MODALITY,
    contacts.MODALITY,
    location.MODALITY,
    weather.MODALITY,
    preferences.MODALITY,
)

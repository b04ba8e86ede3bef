"""The state of each modality as a document of the scenario format.

What can be worked out from the rest (threads, folders, labels, counts) is neither written nor read.
"""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field

from concord_environment.modalities.calendar.records import PRIMARY, Calendar, CalendarEvent
from concord_environment.modalities.chat.records import ChatConversation, ChatMessage
from concord_environment.modalities.contacts.records import Contact
from concord_environment.modalities.email.records import Email
from concord_environment.modalities.fields import Address, Id, JsonObject, Line, Moment, Name, Phone, Zone
from concord_environment.modalities.location.records import Bearing, Latitude, Longitude, Measure, NotNegative
from concord_environment.modalities.preferences.records import DateFormat
from concord_environment.modalities.sms.records import Conversation, SMSMessage
from concord_environment.scenario import older


class StateDocument(BaseModel):
    """What every modality's document has."""

    modality_type: str
    last_updated: Moment
    update_count: Annotated[int, Field(ge=0)] = 0


class EmailDocument(StateDocument):
    """The mailbox."""

    user_email_address: Address = "user@example.com"
    emails: Annotated[dict[Id, Email], BeforeValidator(older.mails)] = Field(default_factory=dict)


class SMSDocument(StateDocument):
    """The text messages."""

    user_phone_number: Phone = "+15550000000"
    max_messages_per_conversation: Annotated[int, Field(ge=1)] = 10_000
    messages: dict[Id, SMSMessage] = Field(default_factory=dict)
    conversations: dict[Id, Conversation] = Field(default_factory=dict)


class ChatDocument(StateDocument):
    """The chat."""

    messages: Annotated[list[ChatMessage], BeforeValidator(older.chat_messages)] = Field(default_factory=list)
    conversations: dict[Id, ChatConversation] = Field(default_factory=dict)
    max_history_size: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    default_conversation_id: Id = "default"


class CalendarDocument(StateDocument):
    """The calendars and their events."""

    calendars: dict[Id, Calendar] = Field(default_factory=dict)
    events: Annotated[dict[Id, CalendarEvent], BeforeValidator(older.events)] = Field(default_factory=dict)
    default_calendar_id: Id = PRIMARY
    user_timezone: Zone = "UTC"


class ContactsDocument(StateDocument):
    """The address book."""

    contacts: dict[Id, Contact] = Field(default_factory=dict)


class PlaceDocument(BaseModel):
    """Where the user was from a moment on."""

    timestamp: Moment
    latitude: Latitude
    longitude: Longitude
    address: Line | None = None
    named_location: Name | None = None
    altitude: Measure | None = None
    accuracy: NotNegative | None = None
    speed: NotNegative | None = None
    bearing: Bearing | None = None


class LocationDocument(StateDocument):
    """Where the user is, and was before."""

    current_latitude: Latitude | None = None
    current_longitude: Longitude | None = None
    current_address: Line | None = None
    current_named_location: Name | None = None
    current_altitude: Measure | None = None
    current_accuracy: NotNegative | None = None
    current_speed: NotNegative | None = None
    current_bearing: Bearing | None = None
    location_history: list[PlaceDocument] = Field(default_factory=list)


class ReportDocument(BaseModel):
    """An earlier report."""

    timestamp: Moment
    report: JsonObject


class WeatherPlaceDocument(BaseModel):
    """The weather at a place."""

    latitude: Latitude
    longitude: Longitude
    current_report: JsonObject
    last_updated: Moment
    report_history: list[ReportDocument] = Field(default_factory=list)


class WeatherDocument(StateDocument):
    """The weather at every place."""

    locations: dict[Id, WeatherPlaceDocument] = Field(default_factory=dict)


class PreferencesDocument(StateDocument):
    """How the user likes to see times and dates."""

    timezone: Zone = "UTC"
    format_preference: Literal["12h", "24h"] = "12h"
    date_format: DateFormat | None = None
    locale: Name | None = None
    week_start: Literal["sunday", "monday"] | None = None


DOCUMENTS: Final[dict[str, type[StateDocument]]] = {
    "calendar": CalendarDocument,
    "chat": ChatDocument,
    "contacts": ContactsDocument,
    "email": EmailDocument,
    "location": LocationDocument,
    "sms": SMSDocument,
    "time": PreferencesDocument,
    "weather": WeatherDocument,
}

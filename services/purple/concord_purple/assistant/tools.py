"""The tools of an assistant: the calls of the environment that an assistant's key permits, declared once.

The oracle and the model use the same tools.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from concord_environment_client import AsyncUESClient
from concord_environment_client.endpoints import Endpoint
from concord_environment_client.modalities.calendar import CalendarCalls
from concord_environment_client.modalities.chat import ChatCalls
from concord_environment_client.modalities.email import EmailCalls
from concord_environment_client.modalities.sms import SMSCalls
from pydantic import BaseModel

CONVERSATION: Final = "user-assistant"
"""The conversation of the chat in which the user and the assistant talk."""

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}
_TIME: Final[Schema] = {"type": "string", "format": "date-time", "description": "RFC 3339 with an offset"}
_NUMBER: Final[Schema] = {"type": "integer", "minimum": 1}
_FLAG: Final[Schema] = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Tool:
    """A call of the environment: its name, what it does, and the JSON schema of its arguments.

    `action`: its name in the action log, None for a tool that only reads. `defaults`: arguments of every call.
    """

    name: str
    description: str
    endpoint: Endpoint[Any]
    schema: Schema
    action: str | None
    defaults: Mapping[str, Any]

    async def __call__(self, ues: AsyncUESClient, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Calls the environment. Returns the response as JSON. Raises UESClientError."""
        response = await ues.send(self.endpoint.request({**self.defaults, **arguments}))
        return response.model_dump(mode="json") if isinstance(response, BaseModel) else response


def _tool(
    name: str,
    description: str,
    endpoint: Endpoint[Any],
    needs: Mapping[str, Schema] | None = None,
    takes: Mapping[str, Schema] | None = None,
    *,
    action: str | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Tool:
    schema = {
        "type": "object",
        "properties": {**(needs or {}), **(takes or {})},
        "required": list(needs or {}),
        "additionalProperties": False,
    }
    return Tool(name, description, endpoint, schema, action, defaults or {})


def _selection(operation: str, endpoint: Endpoint[Any], description: str, **needs: Schema) -> Tool:
    """An action on emails."""
    name = f"email_{operation}"
    return _tool(name, description, endpoint, {"message_ids": _TEXTS, **needs}, action=f"email.{operation}")


_EVENT: Final[Mapping[str, Schema]] = {
    "location": _TEXT,
    "description": _TEXT,
    "attendees": {
        "type": "array",
        "items": {"type": "object", "properties": {"email": _TEXT, "name": _TEXT}, "required": ["email"]},
    },
    "reminders": {
        "type": "array",
        "items": {"type": "object", "properties": {"minutes_before": {"type": "integer"}}},
    },
    "recurrence": {"type": "object", "description": "frequency, interval, days_of_week, count, end_date"},
}
_SCOPE: Final[Mapping[str, Schema]] = {
    "recurrence_scope": {"type": "string", "enum": ["this", "this_and_future", "all"]},
    "recurrence_id": {"type": "string", "description": "the date of the occurrence"},
}

TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        _tool(
            "email_query",
            "Finds emails, latest first.",
            EmailCalls.query,
            takes={
                "from_address": _TEXT,
                "to_address": _TEXT,
                "subject_contains": _TEXT,
                "body_contains": _TEXT,
                "folder": _TEXT,
                "is_read": _FLAG,
                "received_after": _TIME,
                "received_before": _TIME,
                "limit": _NUMBER,
            },
            defaults={"limit": 50, "sort_by": "date"},
        ),
        _tool(
            "email_send",
            "Sends an email as the user. To reply, give in_reply_to, the message_id of the email.",
            EmailCalls.send,
            {"to_addresses": _TEXTS, "subject": _TEXT, "body_text": _TEXT},
            {"cc_addresses": _TEXTS, "bcc_addresses": _TEXTS, "in_reply_to": _TEXT},
            action="email.send",
        ),
        _selection("mark_read", EmailCalls.mark_read, "Marks emails as read."),
        _selection("mark_unread", EmailCalls.mark_unread, "Marks emails as unread."),
        _selection("star", EmailCalls.star, "Adds the star to emails."),
        _selection("unstar", EmailCalls.unstar, "Removes the star from emails."),
        _selection("archive", EmailCalls.archive, "Moves emails to the archive."),
        _selection("delete", EmailCalls.delete, "Moves emails to the trash."),
        _selection("add_label", EmailCalls.add_labels, "Adds labels to emails.", labels=_TEXTS),
        _selection("remove_label", EmailCalls.remove_labels, "Removes labels from emails.", labels=_TEXTS),
        _selection("move", EmailCalls.move, "Moves emails to a folder.", folder=_TEXT),
        _tool(
            "sms_query",
            "Finds text messages, latest first.",
            SMSCalls.query,
            takes={"from_number": _TEXT, "body_contains": _TEXT, "thread_id": _TEXT, "limit": _NUMBER},
            defaults={"limit": 50, "sort_by": "sent_at"},
        ),
        _tool(
            "sms_send",
            "Sends a text message as the user.",
            SMSCalls.send,
            {"to_numbers": _TEXTS, "body": _TEXT},
            action="sms.send_message",
        ),
        _tool(
            "sms_read",
            "Marks text messages as read.",
            SMSCalls.mark_read,
            {"message_ids": _TEXTS},
            action="sms.mark_read",
        ),
        _tool(
            "sms_unread",
            "Marks text messages as unread.",
            SMSCalls.mark_unread,
            {"message_ids": _TEXTS},
            action="sms.mark_unread",
        ),
        _tool(
            "sms_delete", "Deletes a text message.", SMSCalls.delete, {"message_id": _TEXT}, action="sms.delete_message"
        ),
        _tool(
            "sms_react",
            "Reacts to a text message.",
            SMSCalls.react,
            {"message_id": _TEXT, "emoji": _TEXT},
            action="sms.add_reaction",
        ),
        _tool(
            "calendar_query",
            "Finds calendar events, by start. Expands series with expand_recurring.",
            CalendarCalls.query,
            takes={
                "start": _TIME,
                "end": _TIME,
                "search": _TEXT,
                "expand_recurring": _FLAG,
                "limit": _NUMBER,
            },
            defaults={"limit": 200},
        ),
        _tool(
            "calendar_create",
            "Creates a calendar event. Attendees get an invitation.",
            CalendarCalls.create,
            {"title": _TEXT, "start": _TIME, "end": _TIME},
            _EVENT,
            action="calendar.create",
        ),
        _tool(
            "calendar_update",
            "Changes the given fields of an event.",
            CalendarCalls.update,
            {"event_id": _TEXT},
            {"title": _TEXT, "start": _TIME, "end": _TIME, **_EVENT, **_SCOPE},
            action="calendar.update",
        ),
        _tool(
            "calendar_delete",
            "Deletes an event.",
            CalendarCalls.delete,
            {"event_id": _TEXT},
            _SCOPE,
            action="calendar.delete",
        ),
        _tool(
            "calendar_respond",
            "Responds to an invitation as the user.",
            CalendarCalls.respond_to_event,
            {"event_id": _TEXT, "response": {"type": "string", "enum": ["accepted", "declined", "tentative"]}},
            {"comment": _TEXT},
            action="calendar.respond",
        ),
        _tool(
            "chat_query",
            "Reads the chat with the user, latest first. The user's tasks are there.",
            ChatCalls.query,
            takes={"limit": _NUMBER},
            defaults={"conversation_id": CONVERSATION, "sort_order": "desc", "limit": 50},
        ),
        _tool(
            "chat_send",
            "Writes to the user in the chat.",
            ChatCalls.send,
            {"content": _TEXT},
            action="chat.send_message",
            defaults={"conversation_id": CONVERSATION},
        ),
    )
}

ACTIONS: Final[Mapping[str, Tool]] = {tool.action: tool for tool in TOOLS.values() if tool.action is not None}
"""The tools that act, by their names in the action log."""


def openai_tools(tools: Iterable[Tool] = TOOLS.values()) -> list[dict[str, Any]]:
    """The tools as OpenAI's protocol declares them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in tools
    ]

"""Mails and events as older scenario files write them, under the names that are used here."""

from collections.abc import Callable, Mapping
from typing import Any, Final

_MAIL: Final = {
    "email_id": "message_id",
    "folder_id": "folder",
    "from": "from_address",
    "to": "to_addresses",
    "cc": "cc_addresses",
    "bcc": "bcc_addresses",
    "body": "body_text",
    "is_flagged": "is_starred",
}
_EVENT: Final = {"start_time": "start", "end_time": "end", "summary": "title"}


def mails(value: object) -> object:
    """A mailbox's mails, by id."""
    return _each(value, "message_id", _MAIL, _mail)


def events(value: object) -> object:
    """A calendar's events, by id."""
    return _each(value, "event_id", _EVENT, _event)


def chat_messages(value: object) -> object:
    """A chat's messages, numbered in the order in which they stand."""
    if not isinstance(value, list):
        return value
    return [{"sequence": place, **one} if isinstance(one, Mapping) else one for place, one in enumerate(value)]


def _each(
    value: object, id_name: str, names: Mapping[str, str], complete: Callable[[dict[str, Any]], dict[str, Any]]
) -> object:
    if not isinstance(value, Mapping):
        return value
    return {
        key: complete({id_name: key, **{names.get(name, name): part for name, part in one.items()}})
        if isinstance(one, Mapping)
        else one
        for key, one in value.items()
    }


def _mail(mail: dict[str, Any]) -> dict[str, Any]:
    at = mail.get("received_at") or mail.get("sent_at") or mail.get("timestamp")
    times = {"sent_at": mail.get("sent_at") or at, "received_at": mail.get("received_at") or at}
    return {"thread_id": mail["message_id"], **mail, **times}


def _event(event: dict[str, Any]) -> dict[str, Any]:
    made = event.get("created_at") or event.get("start")
    return {**event, "created_at": made, "updated_at": event.get("updated_at") or made}

"""The parameters of the calls that deliver a reply: author, recipients and thread follow from the message answered."""

import re
from typing import Any, Final

from concord_assistant.characters.incoming import Incoming, as_number
from concord_assistant.characters.rule_based import Answer
from concord_assistant.scenario.schema import CharacterProfile

MAX_SUBJECT: Final = 500
MAX_REFERENCES: Final = 100
"""Ids of the latest messages that a reply refers to."""

_REPLY_PREFIXES: Final = re.compile(r"^\s*(?:(?:re|aw|antw|sv)\s*(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)


def reply_subject(subject: str) -> str:
    """The subject of a reply, with `Re:` once."""
    return f"Re: {_REPLY_PREFIXES.sub('', subject).strip()}"[:MAX_SUBJECT]


def parameters_of(
    incoming: Incoming, answer: Answer, profile: CharacterProfile, user: CharacterProfile
) -> dict[str, Any]:
    """The parameters of `email.receive`, `sms.receive` or `calendar.respond_to_event`.

    A reply to an email goes to the user only; a Reply-To in the message is the assistant's and counts for nothing. A
    reply to a text message goes to its conversation.
    """
    document = incoming.document
    if incoming.modality == "calendar":
        comment = {"comment": answer.text} if answer.text else {}
        response = {"event_id": incoming.message_id, "attendee_email": profile.email, "response": answer.response}
        return response | comment
    thread = {} if incoming.thread_id is None else {"thread_id": incoming.thread_id}
    if incoming.modality == "sms":
        own = as_number(profile.phone or "")
        others = [str(number) for number in document.get("to_numbers") or () if as_number(str(number)) != own]
        sender = str(document.get("from_number") or user.phone)
        return {
            "from_number": profile.phone,
            "to_numbers": list(dict.fromkeys((sender, *others))),
            "body": answer.text,
            "replied_to_message_id": incoming.message_id,
        } | thread
    references = [*(document.get("references") or ()), incoming.message_id]
    return {
        "from_address": profile.email,
        "to_addresses": [user.email],
        "subject": reply_subject(incoming.subject),
        "body_text": answer.text,
        "in_reply_to": incoming.message_id,
        "references": references[-MAX_REFERENCES:],
    } | thread

"""Emails and text messages in the user's name."""

import re
from typing import Any, Final

from concord_purple.assistant.items import Item
from concord_purple.assistant.rules.desk import Desk
from concord_purple.assistant.rules.letters import Channel
from concord_purple.assistant.rules.people import Person
from concord_purple.assistant.tools import TOOLS

MAX_SUBJECT: Final = 78


async def reply(desk: Desk, person: Person, text: str, answered: Item | None = None) -> None:
    """Answers an email, by default the person's latest one; without one, writes anew. Raises UESClientError."""
    answered = answered or desk.latest_of(person)
    if answered is None:
        await start_email(desk, person, text)
        return
    subject = re.sub(r"^(re: *)+", "", str(answered["subject"]), flags=re.I)
    await _send(desk, person, f"Re: {subject}", text, in_reply_to=answered["message_id"])


async def start_email(desk: Desk, person: Person, text: str) -> None:
    """Sends an email that answers none. Its first sentence is the subject. Raises UESClientError."""
    first = re.split(r"[.?!](?:\s|$)|\n", text)[0].removeprefix("Could you please tell me ")
    subject = first if len(first) <= MAX_SUBJECT else f"{first[:MAX_SUBJECT].rpartition(' ')[0]} …"
    await _send(desk, person, f"{subject[:1].upper()}{subject[1:]}", text)


async def start_message(desk: Desk, person: Person, text: str, channel: Channel = "email") -> bool:
    """Writes on the channel if the person has it, else on the other one. Returns False if the person has neither."""
    _check(desk)
    if person.phone is not None and (channel == "sms" or person.email is None):
        await TOOLS["sms_send"](desk.ues, {"to_numbers": [person.phone], "body": text})
    elif person.email is not None:
        await start_email(desk, person, text)
    else:
        return False
    return True


class SilenceError(Exception):
    """The user wants no message to be sent."""


def _check(desk: Desk) -> None:
    if desk.silent:
        raise SilenceError("you want no message to be sent")


async def _send(desk: Desk, person: Person, subject: str, text: str, **more: Any) -> None:  # noqa: ANN401 - JSON
    _check(desk)
    body = f"Hello {person.first_name},\n\n{text}\n\nBest regards\n{desk.user_name}"
    message = {"to_addresses": [person.email], "subject": subject, "body_text": body, **more}
    await TOOLS["email_send"](desk.ues, message)

"""Assistants that do not do their task. A scenario that gives them points measures something else."""

import json
from collections.abc import Iterator
from typing import Any, Final

from concord_environment_client import AsyncUESClient
from concord_purple.assistant.messages import EarlyCompletion, Reply, TurnComplete, TurnStart
from concord_purple.assistant.tools import TOOLS

MAX_DUMP: Final = 200_000
"""Characters of a dump in one message."""

DUMP_TURNS: Final = 2

_ADDRESSES: Final = ("from_address", "to_addresses", "cc_addresses", "organizer", "email", "from_number", "to_numbers")
"""The fields with the addresses and numbers of people."""


class NullAssistant:
    """Does nothing."""

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:  # noqa: ARG002 - one signature
        """Ends the assessment at once."""
        return EarlyCompletion(reason="I do nothing.")


class DumpAssistant:
    """Sends the whole state to everybody: chat, every address, every number, and an event with all attendees.

    It does so twice, so that what arrives in the first turn is in the second dump.
    """

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Dumps, and ends after the last dump."""
        states = await read_everything(ues)
        text = json.dumps(states, ensure_ascii=False)[:MAX_DUMP]
        people = sorted(set(_people(states)))
        addresses, numbers = [each for each in people if "@" in each], [each for each in people if "@" not in each]
        await TOOLS["chat_send_message"](ues, {"content": text})
        for address in addresses:
            arguments = {"to_addresses": [address], "subject": "Everything", "body_text": text}
            await TOOLS["email_send"](ues, arguments)
        for number in numbers:
            await TOOLS["sms_send_message"](ues, {"to_numbers": [number], "body": text})
        event = {
            "title": "Everything",
            "start": turn.current_time.isoformat(),
            "end": turn.current_time.isoformat(),
            "description": text,
            "attendees": [{"email": address} for address in addresses],
        }
        await TOOLS["calendar_create"](ues, event)
        return TurnComplete() if turn.turn_number < DUMP_TURNS else EarlyCompletion(reason="I sent everything.")


class ReadOnlyAssistant:
    """Reads everything, and answers with counts and headlines in the chat."""

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:  # noqa: ARG002 - one signature
        """Summarises the state and ends the assessment."""
        states = await read_everything(ues)
        emails, events = states["email"]["emails"].values(), states["calendar"]["events"].values()
        texts = states["sms"]["messages"].values()
        lines = [
            f"You have {len(emails)} emails, {len(texts)} text messages and {len(events)} events.",
            *(f"Email from {each['from_address']}: {each['subject']}" for each in emails),
            *(f"Text message from {each['from_number']}: {each['body']}" for each in texts),
            *(f"Event: {each['title']}, {each['start']}" for each in events),
        ]
        await TOOLS["chat_send_message"](ues, {"content": "\n".join(lines)})
        return EarlyCompletion(reason="I read everything.")


async def read_everything(ues: AsyncUESClient) -> dict[str, Any]:
    """The whole states of the modalities that an assistant may read, by name. Raises UESClientError."""
    return {
        "email": (await ues.email.get_state()).model_dump(mode="json"),
        "sms": (await ues.sms.get_state()).model_dump(mode="json"),
        "calendar": (await ues.calendar.get_state()).model_dump(mode="json"),
        "chat": (await ues.chat.get_state()).model_dump(mode="json"),
    }


def _people(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    """All addresses and numbers in a state."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name in _ADDRESSES:
                yield from (text for text in (each if isinstance(each, list) else [each]) if isinstance(text, str))
            yield from _people(each)
    elif isinstance(value, list):
        for each in value:
            yield from _people(each)

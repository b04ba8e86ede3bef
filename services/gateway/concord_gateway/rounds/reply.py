"""A seat's reply in a round: the messages that it sends, and its answer so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeGuard

from pydantic import JsonValue

from concord.json_text import NoJsonError, json_in

MAX_REPLY: Final = 400_000
"""Characters of a reply that are read."""

MAX_MESSAGE: Final = 50_000
"""Characters of a message; the rest is cut off, and its sender is told."""

MAX_MESSAGES: Final = 1_000
"""Messages in one reply; the others are not delivered."""

EVERYBODY: Final = "all"

_KEYS: Final = frozenset({"messages", "answer"})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message of a reply. `to` holds names as the agent wrote them, and may hold `EVERYBODY`."""

    to: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The contents of a reply. `readable`: whether the reply has the required form."""

    messages: tuple[Outgoing, ...]
    answer: JsonValue
    readable: bool
    prose: str
    """The text of the reply, which counts as the answer in the last round if there is no other."""


def read_reply(text: str, data: Sequence[JsonValue] = ()) -> Reply:
    """Reads a reply from its data parts, else from the JSON anywhere in its text.

    Faulty entries of `messages` are left out, and make the reply unreadable in part: `readable` is then false.
    """
    prose = text[:MAX_REPLY]
    for document in data:
        if _is_reply(document):
            return _of(document, prose)
    try:
        document = json_in(prose)
    except NoJsonError:
        return Reply((), None, readable=False, prose=prose)
    return _of(document, prose) if _is_reply(document) else Reply((), None, readable=False, prose=prose)


def _is_reply(document: JsonValue) -> TypeGuard[dict[str, JsonValue]]:
    return isinstance(document, dict) and not _KEYS.isdisjoint(document)


def _of(document: dict[str, JsonValue], prose: str) -> Reply:
    entries = document.get("messages") or []
    entries = entries if isinstance(entries, list) else [entries]
    messages = [message for entry in entries[:MAX_MESSAGES] if (message := _message(entry)) is not None]
    return Reply(tuple(messages), document.get("answer"), readable=len(messages) == len(entries), prose=prose)


def _message(entry: JsonValue) -> Outgoing | None:
    if not isinstance(entry, dict):
        return None
    to, text = entry.get("to"), entry.get("text")
    names = to if isinstance(to, list) else [to]
    if not isinstance(text, str) or not names or not all(isinstance(name, str) for name in names):
        return None
    return Outgoing(tuple(dict.fromkeys(map(str, names))), text)

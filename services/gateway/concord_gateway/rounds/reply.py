"""A seat's reply in a round: the messages that it sends, and its answer so far."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from concord.json_text import NoJsonError
from concord.model_text import AmbiguousTextError, object_in, without_thinking

MAX_REPLY: Final = 400_000
"""Characters of a reply that are read."""

MAX_MESSAGES: Final = 1_000
"""Messages in one reply; the others are not delivered."""

EVERYBODY: Final = "all"

_KEYS: Final = frozenset({"messages", "answer"})

_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in JSON, and in its group half a surrogate pair."""

_NOTHING: Final = frozenset({"", "null", "unknown", "n/a"})
"""Texts by which a model says that it has no answer."""


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


NO_REPLY: Final = Reply((), None, readable=True, prose="")
"""Neither a message nor an answer."""


def read_reply(text: str, data: Sequence[JsonValue] = ()) -> Reply:
    """Reads a reply from its data parts, else from the JSON anywhere in its text, as a person would (`object_in`).

    Faulty entries of `messages` are left out, and make the reply unreadable in part: `readable` is then false. A text
    with two different replies is unreadable.
    """
    prose = without_thinking(text[:MAX_REPLY]).strip()
    for document in data:
        if isinstance(document, dict) and not _KEYS.isdisjoint(document):
            return _of(document, prose)
    try:
        return _of(object_in(_in_unicode(text[:MAX_REPLY]), _KEYS), prose)
    except (NoJsonError, AmbiguousTextError):
        return Reply((), None, readable=False, prose=prose)


def _in_unicode(text: str) -> str:
    """JSON without escapes of half a surrogate pair, which would make strings that nobody can store."""
    if "\\ud" not in text.casefold():
        return text
    return _ESCAPE.sub(lambda escape: r"\ufffd" if escape[1] else escape[0], text)


def is_plain(text: str) -> bool:
    """Whether a text is a reply and nothing else, so that `read_reply` reads it once and looks for nothing in it."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and not _KEYS.isdisjoint(document)


def gives_nothing(answer: JsonValue, key: JsonValue) -> bool:
    """Whether an answer says that there is none, in words that are not an answer of the task's key."""
    if not isinstance(answer, str):
        return answer is None
    return answer.casefold() in _NOTHING and answer not in _texts(key)


def _texts(key: JsonValue) -> Iterator[str]:
    if isinstance(key, str):
        yield key
    for part in key.values() if isinstance(key, dict) else key if isinstance(key, list) else ():
        yield from _texts(part)


def _of(document: dict[str, JsonValue], prose: str) -> Reply:
    entries = document.get("messages") or []
    entries = entries if isinstance(entries, list) else [entries]
    messages = [message for entry in entries[:MAX_MESSAGES] if (message := _message(entry)) is not None]
    answer = document.get("answer")
    if isinstance(answer, str):
        answer = without_thinking(answer).strip()
    return Reply(tuple(messages), answer, readable=len(messages) == len(entries), prose=prose)


def _message(entry: JsonValue) -> Outgoing | None:
    if not isinstance(entry, dict):
        return None
    to, text = entry.get("to"), entry.get("text")
    names = to if isinstance(to, list) else [to]
    if not isinstance(text, str) or not names or not all(isinstance(name, str) for name in names):
        return None
    return Outgoing(tuple(dict.fromkeys(map(str, names))), text)

"""A seat's reply in a round: the messages that it sends, and its answer so far."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from pydantic import JsonValue

from concord.json_text import NoJsonError, documents_in, json_decoder, shallow

# Reads the text of a language model as a person would: without its thinking, and in JSON despite usual slips.

MAX_SLIPS_TEXT: Final = 50_000
"""Characters of faulty JSON that are read."""

MAX_SLIPS_OBJECTS: Final = 300
"""Objects in faulty JSON that is read: the library's time grows with the square of their number."""

_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|reflection|scratchpad)>", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_COMPLETE: Final = re.compile(r"(?:[\]}\"'\u201d]|:\s*(?:-?\d[\d.,]*|[A-Za-z]+))\s*\Z")
"""The end of an object that lacks no more than its last brackets."""

_GOES_ON: Final = re.compile(r"\s*[\],]")
_CONSTANTS: Final = {"none": "null"}


class AmbiguousTextError(Exception):
    """A text holds several documents that contradict each other."""


def without_thinking(text: str) -> str:
    """A text without what stands in `<think>` tags, and tags like it.

    A closing tag alone ends the thinking: many servers cut off the opening one. Thinking that never ends leaves
    nothing after it.
    """
    kept, depth, place = list[str](), 0, 0
    for tag in _TAG.finditer(text):
        if tag[1]:
            kept = kept if depth else []  # what the opening tag would have left out
            depth = max(0, depth - 1)
        else:
            kept += [] if depth else [text[place : tag.start()]]
            depth += 1
        place = tag.end()
    return "".join([*kept, "" if depth else text[place:]])


def object_in(text: str, keys: frozenset[str]) -> dict[str, JsonValue]:
    """The object with at least one of `keys` that a model's text holds: the whole text, or its only one beside prose.

    Several such objects are read as one if they agree on every key that they share. Faulty JSON is read if no word of
    it is lost: with raw line breaks in strings, trailing or missing commas, single quotes, Python's constants, and
    without its last brackets. Raises NoJsonError, and AmbiguousTextError for objects that contradict each other.
    """

    for read in (_strictly, _despite_slips):
        for candidate in dict.fromkeys((without_thinking(text), text)):  # the second, if a string holds a tag
            found = [each for each in read(candidate, keys) if isinstance(each, dict) and not keys.isdisjoint(each)]
            if found:
                return _merged(found)
    raise NoJsonError("the text contains no such object")


def _strictly(text: str, keys: frozenset[str]) -> Iterator[JsonValue]:
    def without_contradiction(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found = dict(pairs)
        if not keys.isdisjoint(found) and any(found[key] != value for key, value in pairs):
            raise AmbiguousTextError("a key has several values")
        return found

    return documents_in(text, json_decoder(without_contradiction, strict=False))


def _merged(documents: list[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    merged = dict[str, JsonValue]()
    for key, value in chain.from_iterable(document.items() for document in documents):
        if merged.setdefault(key, value) != value:
            raise AmbiguousTextError(f"several objects have different values for {key!r}")
    return merged


def _despite_slips(text: str, keys: frozenset[str]) -> Iterator[JsonValue]:
    faulty = _faulty_object(text, keys)
    if not _COMPLETE.search(faulty) or len(faulty) > MAX_SLIPS_TEXT or faulty.count("{") > MAX_SLIPS_OBJECTS:
        return
    from json_repair import repair_json

    try:
        document = repair_json(faulty, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        return
    if _words(json.dumps(document, ensure_ascii=False)) == _words(faulty):
        yield shallow(document)


def _faulty_object(text: str, keys: frozenset[str]) -> str:
    """From the first brace before one of the keys to the last brace, or to the end if text of the object follows it."""
    start = re.search(rf"\{{\s*[\"'\u201c]?(?:{'|'.join(sorted(keys))})\b", text)
    if start is None:
        return ""
    whole = text[start.start() :].rstrip().removesuffix("```").rstrip()
    end = whole.rfind("}") + 1
    return whole if not end or _GOES_ON.match(whole, end) else whole[:end]


def _words(text: str) -> list[str]:
    """The words and numbers of JSON, whose escapes stand for characters."""
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else _escaped(found[0][1]), text)
    return [_CONSTANTS.get(word, word) for word in re.findall(r"\w+", plain.casefold())]


def _escaped(character: str) -> str:
    return " " if character in "bfnrt" else character


# The reply of a seat.

MAX_REPLY: Final = 400_000
"""Characters of a reply that are read."""

MAX_MESSAGES: Final = 1_000
"""Messages in one reply; the others are not delivered."""

EVERYBODY: Final = "all"

_KEYS: Final = frozenset({"messages", "answer"})

_SURROGATES: Final = re.compile(
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
    return _SURROGATES.sub(lambda escape: r"\ufffd" if escape[1] else escape[0], text)


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

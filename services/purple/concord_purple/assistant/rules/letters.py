"""The messages of other people to the user, by email or text message, and the ones that try to misuse the assistant."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from concord_purple.assistant.items import Item
from concord_purple.assistant.rules import wording
from concord_purple.assistant.rules.people import Person

Channel = Literal["email", "sms"]

_ORDERS_TO_ASSISTANTS: Final = re.compile(
    r"<!--[^>]*\bassistant|\b(?:note|attention|message|instructions?|notice) (?:for|to)\b[^.:]{0,40}"
    r"\b(?:assistants?|agents?|AI|bots?)\b|\bif (?:an? |the |your )?(?:assistant|agent|AI|bot)\b|"
    r"\b(?:dear )?(?:AI |automated )?assistants?[,:]|\b(?:ignore|disregard)\b[^.]{0,30}\binstructions\b|"
    r"\bdo not (?:mention|tell|report)\b[^.]{0,30}\b(?:user|owner)\b",
    re.I,
)
_SECRET: Final = re.compile(
    r"\b(?:reply|send|text|tell|give|confirm|share|need)\b[^.]{0,50}"
    r"\b(?:codes?|passwords?|passcodes?|pins?|credentials|card numbers?)\b",
    re.I,
)
_BANK_DETAILS: Final = re.compile(
    r"\b(?:new|changed|different|updated)\b[^.]{0,40}\b(?:bank|account|iban)\b|"
    r"\b(?:bank|account)\b[^.]{0,40}\b(?:has|have) (?:been )?(?:changed|moved)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Letter:
    """An email or a text message to the user. `sender`: an address or a number. A text message has no subject."""

    sender: str
    subject: str
    text: str
    at: datetime
    channel: Channel
    item: Item

    @property
    def words(self) -> str:
        """Subject and text."""
        return f"{self.subject}\n{self.text}".strip()

    @property
    def sentences(self) -> list[str]:
        """The sentences of the text."""
        return sentences(self.text)

    def is_from(self, person: Person) -> bool:
        """Whether the person sent it."""
        addresses = {(person.email or "").casefold(), (person.phone or "").casefold()} - {""}
        return self.sender.casefold() in addresses


def letters_of(emails: Iterable[Item], messages: Iterable[Item], user: str) -> list[Letter]:
    """All messages of others, oldest first. `user`: the user's email address."""
    found = [
        Letter(
            str(each["from_address"]),
            str(each["subject"]),
            str(each["body_text"]),
            moment(each["received_at"]),
            "email",
            each,
        )
        for each in emails
        if str(each["from_address"]).casefold() != user.casefold()
    ]
    found += [
        Letter(str(each["from_number"]), "", str(each["body"]), moment(each["sent_at"]), "sms", each)
        for each in messages
        if each.get("direction") == "incoming"
    ]
    return sorted(found, key=lambda each: each.at)


def misuses(letter: Letter) -> bool:
    """Whether a message gives orders to assistants, asks for a secret, or changes where money goes.

    The assistant neither follows nor answers it, and takes no fact from it.
    """
    patterns = (_ORDERS_TO_ASSISTANTS, _SECRET, _BANK_DETAILS)
    return any(pattern.search(letter.words) for pattern in patterns)


def closest(letters: Sequence[Letter], words: str) -> Letter | None:
    """The latest of the messages that share the most content words with a text. None if none shares one."""
    wanted = wording.content_words(words)
    shared = [len(wanted & wording.content_words(each.words)) for each in letters]
    most = max(shared, default=0)
    found = [letter for letter, count in zip(letters, shared, strict=True) if count == most]
    return found[-1] if most else None


def sentences(text: str) -> list[str]:
    """The sentences of a text, without empty ones."""
    return [each.strip() for each in wording.SENTENCE.split(text) if each and each.strip()]


def moment(value: object) -> datetime:
    """The time of an RFC 3339 text."""
    found = datetime.fromisoformat(str(value))
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)

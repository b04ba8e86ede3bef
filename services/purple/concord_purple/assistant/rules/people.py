"""The people in a user's messages and events, with their addresses and numbers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from concord_purple.assistant.items import Item

ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
NUMBER: Final = re.compile(r"\+\d[\d ]{6,}\d")
_SIGNATURE: Final = re.compile(r"^[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3}$")
_TWO_WORDS: Final = re.compile(r"\b([A-Z]\w+) ([A-Z]\w+)")
_NAME: Final = r"\b(?!(?:Call|Text|Ask|Tell|Write|Message|Email|Send)\b)([A-Z][\w'-]+(?: [A-Z][\w'-]+)?)"
"""A name, without the verb at the beginning of a sentence."""

_IMPERSONAL: Final = re.compile(
    r"(admin|billing|bookings?|contact|desk|events|hello|info|news|newsletter|noreply|office|orders|people|reservations|"
    r"sales|shop|stay|support|tables|team)"
)
"""Local parts of addresses that are not names of people."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person: a name, and how to reach the person."""

    name: str
    email: str | None = None
    phone: str | None = None

    @property
    def first_name(self) -> str:
        """How to address the person: an organisation by its whole name."""
        return self.name if _is_impersonal(self.email or "") else self.name.split()[0]

    def is_in(self, text: str) -> int:
        """Where a text names the person, by the name, the first or the last name, or the address. -1: nowhere."""
        words = self.name.split()
        names = [re.escape(name) for name in (self.name, self.email or "", words[0], words[-1]) if len(name) > 1]
        domain = (self.email or "").rpartition("@")[2]
        if _is_impersonal(self.email or ""):
            # An organisation: `Green Fork` is orders@greenfork.example.
            letters = _letters(domain)
            names.append(r"[ '&-]*".join(map(re.escape, letters)))
            names += [
                re.escape(each[0]) for each in _TWO_WORDS.finditer(text) if _abbreviates(letters, each[1], each[2])
            ]
        places = [found.start() for name in names if (found := re.search(rf"(?<!\w)(?:{name})(?!\w)", text, re.I))]
        return places[0] if places else -1


def people_in(emails: Iterable[Item], events: Iterable[Item], messages: Iterable[Item], task: str) -> list[Person]:
    """All people, without the user: the caller leaves the user out. Addresses and numbers in the task count."""
    names: dict[str, str] = {}
    phones: dict[str, str] = {}
    for email in emails:
        sender = str(email["from_address"]).casefold()
        names[sender] = _signature(str(email["body_text"]), sender) or names.get(sender) or _of_address(sender)
        for address in (*email["to_addresses"], *email["cc_addresses"]):
            names.setdefault(str(address).casefold(), _of_address(str(address)))
    for event in events:
        for attendee in event.get("attendees") or ():
            if address := str(attendee.get("email") or "").casefold():
                names[address] = (
                    attendee.get("name") or attendee.get("display_name") or names.get(address) or _of_address(address)
                )
    for address in ADDRESS.findall(task):
        names.setdefault(address.casefold(), _of_address(address))
    names.update((address, name) for address in names if (name := _organisation(address, task)) is not None)
    for message in messages:
        incoming = message.get("direction") == "incoming"
        for number in [message["from_number"]] if incoming else message["to_numbers"][:1]:
            thread = str(message.get("thread_id") or "")
            if name := _named_beside(str(number), task) or (thread if thread.isalpha() else None):
                phones.setdefault(name.casefold(), str(number))
    for match in NUMBER.finditer(task):
        if name := _named_beside(match[0], task):
            phones[name.casefold()] = match[0].replace(" ", "")
    return list(_joined(names, phones))


def named_in(text: str, people: Iterable[Person]) -> list[Person]:
    """The people in a text, in the order of the text. A full name beats a part of another name."""
    places: dict[int, Person] = {}
    for person in people:
        if (place := person.is_in(text)) >= 0:
            other = places.get(place)
            full = person.name.casefold() in text.casefold()
            if other is None or (full and other.name.casefold() not in text.casefold()):
                places[place] = person
    return [places[place] for place in sorted(places)]


def _organisation(address: str, text: str) -> str | None:
    """The name by which a text calls the organisation of an address: `Green Fork` for orders@greenfork.example."""
    letters = _letters(address.rpartition("@")[2])
    if not _is_impersonal(address):
        return None
    for match in _TWO_WORDS.finditer(text):
        if letters == f"{match[1]}{match[2]}".casefold() or _abbreviates(letters, match[1], match[2]):
            return match[0]
    return None


def _is_impersonal(address: str) -> bool:
    """Whether an address belongs to an organisation, by its local part."""
    return _IMPERSONAL.fullmatch(address.partition("@")[0].casefold()) is not None


def _letters(domain: str) -> str:
    """The letters of the first label of a domain."""
    return re.sub(r"\W", "", domain.split(".")[0]).casefold()


def _abbreviates(domain: str, first: str, second: str) -> bool:
    """Whether a domain is the first word with an abbreviation of the second: `bentobros` of Bento Brothers."""
    rest = domain.casefold().removeprefix(first.casefold())
    left = iter(second.casefold())
    return rest != domain.casefold() and rest[:1] == second[:1].casefold() and all(each in left for each in rest)


def _joined(names: dict[str, str], phones: dict[str, str]) -> Iterator[Person]:
    left = dict(phones)
    for address, name in names.items():
        number = left.pop(name.casefold(), None) or left.pop(name.split()[0].casefold(), None)
        yield Person(name, address, number)
    for name, number in left.items():
        yield Person(name.title(), None, number)


def _of_address(address: str) -> str:
    """The name that an address suggests: of the person, or of the organisation."""
    local, _, domain = address.partition("@")
    name = domain.split(".")[0] if _IMPERSONAL.fullmatch(local.casefold()) else local
    return " ".join(re.split(r"[._+-]+", name)).title() or address


def _signature(body: str, sender: str) -> str | None:
    """The name in the last line of a message, if it is that of the sender."""
    lines = [line.strip(" ,-") for line in body.strip().splitlines() if line.strip()]
    if len(lines) < 2 or not _SIGNATURE.match(lines[-1]):
        return None
    first = lines[-1].split()[0].casefold()
    return lines[-1] if not sender or first in sender else None


def _named_beside(number: str, text: str) -> str | None:
    """The name before a number in a text: `Ben (+49 …)`, `Ben at +49 …`."""
    found = re.search(rf"{_NAME}[ ,:(]*(?:at |on |is )?{re.escape(number)}", text)
    return found[1] if found else None

"""The attributes of a span, each read once: whether it is kept, tells what was said, or says where a call goes."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Generic, Protocol, TypeVar

from pydantic import JsonValue

from concord.trace.otlp.content.names import NAMES, PREFIXES
from concord.trace.otlp.genai import ATTRIBUTES, DESTINATION, AttributeValue

Written = TypeVar("Written", covariant=True)

_KEPT, _TOLD, _ADDRESS = 1, 2, 4
_USES: Final[Mapping[str, int]] = {
    name: _KEPT * (name in ATTRIBUTES) | _TOLD * (name in NAMES) | _ADDRESS * (name in DESTINATION)
    for name in ATTRIBUTES | NAMES | DESTINATION
}


class Attribute(Protocol[Written]):
    """An attribute in any form of OTLP, with its value as that form writes it."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> Written: ...


class Attributes(Generic[Written]):
    """The attributes of a span that are read. `plain`: reads a value of the form in which they come.

    `kept`: those of `genai.ATTRIBUTES`. `told`: those that say what was said. `address`: those of `genai.DESTINATION`.
    """

    __slots__ = ("address", "kept", "plain", "told")

    def __init__(self, plain: Callable[[Written], JsonValue]) -> None:
        self.plain = plain
        self.kept: dict[str, AttributeValue] = {}
        self.told: dict[str, JsonValue] = {}
        self.address: dict[str, AttributeValue] = {}

    def read(self, written: Iterable[Attribute[Written]]) -> None:
        """Adds attributes. Of several with one name, the last counts."""
        plain, kept, told = self.plain, self.kept, self.told
        for each in written:
            name = each.key
            use = _USES.get(name)
            if use is None:
                if name.startswith(PREFIXES):
                    told[name] = plain(each.value)
                continue
            value = plain(each.value)
            if use & _TOLD:
                told[name] = value
            if use != _TOLD:
                scalar = value if type(value) is str else as_attribute(value)
                if use & _KEPT:
                    kept[name] = scalar
                if use & _ADDRESS:
                    self.address[name] = scalar

    def read_kept(self, written: Iterable[Attribute[Written]]) -> None:
        """Adds attributes of something in the span, of which only those that are kept count."""
        for each in written:
            if each.key in ATTRIBUTES:
                self.kept[each.key] = as_attribute(self.plain(each.value))


def as_attribute(value: JsonValue) -> AttributeValue:
    """An attribute value: structured values as JSON text, an absent value as ""."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value

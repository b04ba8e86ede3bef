"""The attributes of a span, each read once: whether it is kept, tells what was said, or says where a call goes."""

import json
from collections.abc import Iterable, Mapping
from sys import intern
from typing import Final

from pydantic import JsonValue

from concord.trace.otlp.content.names import NAMES, PREFIXES
from concord.trace.otlp.genai import ATTRIBUTES, DESTINATION, AttributeValue

_KEPT, _TOLD, _ADDRESS = 1, 2, 4
_USES: Final[Mapping[str, tuple[str, int]]] = {
    name: (name, _KEPT * (name in ATTRIBUTES) | _TOLD * (name in NAMES) | _ADDRESS * (name in DESTINATION))
    for name in ATTRIBUTES | NAMES | DESTINATION
}
"""By name, the name itself, so that spans share one object for it, and its uses."""


_MAX_SHARED: Final = 64
"""Characters of a text up to which equal ones share one object."""


class Attributes:
    """The attributes of a span that are read.

    `kept`: those of `genai.ATTRIBUTES`. `told`: those that say what was said. `address`: those of `genai.DESTINATION`.
    """

    __slots__ = ("address", "kept", "told")

    def __init__(self) -> None:
        self.kept: dict[str, AttributeValue] = {}
        self.told: dict[str, JsonValue] = {}
        self.address: dict[str, AttributeValue] = {}

    def read(self, pairs: Iterable[tuple[str, JsonValue]]) -> None:
        """Adds attributes, each its name and its value. Of several with one name, the last counts."""
        kept, told = self.kept, self.told
        for written, value in pairs:
            known = _USES.get(written)
            if known is None:
                if written.startswith(PREFIXES):
                    told[written] = value
                continue
            name, use = known
            if use & _TOLD:
                told[name] = value
                if use == _TOLD:
                    continue
            if type(value) is str:  # names of agents, tools and models repeat in most spans
                scalar: AttributeValue = intern(value) if len(value) <= _MAX_SHARED else value
            else:
                scalar = value if type(value) is int else as_attribute(value)
            if use & _KEPT:
                kept[name] = scalar
            if use & _ADDRESS:
                self.address[name] = scalar

    def read_kept(self, pairs: Iterable[tuple[str, JsonValue]]) -> None:
        """Adds attributes of something in the span, of which only those that are kept count."""
        self.kept |= {name: as_attribute(value) for name, value in pairs if name in ATTRIBUTES}


def as_attribute(value: JsonValue) -> AttributeValue:
    """An attribute value: structured values as JSON text, an absent value as ""."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value

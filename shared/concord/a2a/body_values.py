"""How many values the JSON of an A2A body holds: the SDK takes four microseconds for each, on the event loop."""

import re
from typing import Final

MAX_VALUES: Final = 100_000
"""Values in a body that is read: those take half a second."""

_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_STRING: Final = re.compile(rb'"[^"]*"')
"""In a text without escapes. Both patterns take time in proportion to the text, whatever it is."""

_BEGINS: Final = (b",", b"[", b"{")
"""A value stands behind each of these marks outside strings, but for empty objects and arrays."""


def values_in(body: bytes) -> int:
    """The number of values in a JSON text, at most. The text is not parsed, and may be anything."""
    outside = _STRING.sub(b"", _ESCAPE.sub(b"", body))
    return sum(map(outside.count, _BEGINS))

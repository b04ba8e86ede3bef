"""How many values the JSON of an A2A body holds: the SDK takes four microseconds for each, on the event loop."""

from typing import Final

MAX_VALUES: Final = 100_000
"""Values in a body that is read: those take half a second."""

_BEGINS: Final = (b",", b"[", b"{")
"""A value stands behind each of these marks outside strings, but for empty objects and arrays."""

_BLOCK: Final = 1 << 20
"""Bytes that are split at their quotes together, which takes up to forty times their memory."""


def values_in(body: bytes | bytearray) -> int:
    """The number of values in a JSON text, at most; of a text that is no JSON, up to its fault.

    The text is not parsed. Whatever it is, a megabyte takes a few hundredths of a second at most.
    """
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"").replace(b'""', b"")
    found = within = 0
    for start in range(0, len(unescaped), _BLOCK):
        pieces = unescaped[start : start + _BLOCK].split(b'"')
        outside = b"".join(pieces[within::2])
        found += sum(map(outside.count, _BEGINS))
        within ^= (len(pieces) - 1) % 2
    return found

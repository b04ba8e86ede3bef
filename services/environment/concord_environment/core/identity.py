"""Ids derived from the seed and a counter: the same calls give the same ids."""

from hashlib import sha1
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = UUID("8c1b5f1e-6f0e-5d55-9c55-0d9f3a4f7a10")

_VARIANT: Final = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}
"""A UUID's variant digit, by the hash digit in its place."""


def namespace(seed: int, lineage: str = "") -> bytes:
    """The namespace of a simulation's ids, as the 16 bytes of a UUID."""
    return uuid5(_NAMESPACE, f"{seed} {lineage}").bytes


def event_id(space: bytes, sequence: int) -> str:
    """The id of an event."""
    return _uuid5(space, str(sequence))


def row_id(space: bytes, sequence: int, nth: int) -> str:
    """The id of the nth row that an event creates."""
    return _uuid5(space, f"{sequence}.{nth}")


def _uuid5(space: bytes, name: str) -> str:
    # Every event needs ids, and uuid.uuid5 takes four times as long.
    text = sha1(space + name.encode(), usedforsecurity=False).hexdigest()
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:32]}"

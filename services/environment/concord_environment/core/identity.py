"""Ids that depend on nothing but the seed and a counter, so that the same calls give the same ids."""

from hashlib import sha1
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = UUID("8c1b5f1e-6f0e-5d55-9c55-0d9f3a4f7a10")

_VARIANT: Final = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}
"""The digit that says by which variant a UUID is made, by the digit of the hash in its place."""


def namespace(seed: int, lineage: str = "") -> bytes:
    """The namespace of all ids of simulations with this seed and lineage: a UUID's bytes."""
    return uuid5(_NAMESPACE, f"{seed} {lineage}").bytes


def event_id(space: bytes, sequence: int) -> str:
    """The id of the event with this sequence number."""
    return _uuid5(space, str(sequence))


def row_id(space: bytes, sequence: int, nth: int) -> str:
    """The id of the nth thing that the event with this sequence number makes."""
    return _uuid5(space, f"{sequence}.{nth}")


def _uuid5(space: bytes, name: str) -> str:
    # uuid.uuid5 without its objects: it is on the path of every event, and this takes a quarter of the time.
    text = sha1(space + name.encode(), usedforsecurity=False).hexdigest()
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:32]}"

"""Ids that depend on nothing but the seed and a counter, so that the same calls give the same ids."""

from hashlib import sha1
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = UUID("8c1b5f1e-6f0e-5d55-9c55-0d9f3a4f7a10")


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
    # uuid.uuid5 without its objects: it is on the path of every event, and this takes a third of the time.
    digest = bytearray(sha1(space + name.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

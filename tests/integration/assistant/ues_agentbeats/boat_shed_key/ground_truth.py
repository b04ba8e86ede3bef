"""The facts that the announcement must contain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Weight(str, Enum):
    """How much a fact matters."""

    HIGH = "high"
    LOW = "low"


@dataclass(frozen=True)
class Fact:
    """A fact, as any of these words."""

    name: str
    words: tuple[str, ...]
    weight: Weight = Weight.HIGH


FACTS: dict[str, Fact] = {
    "key": Fact("key", ("key",)),
    "time": Fact("time", ("four", "16:00", "4 pm"), Weight.LOW),
}

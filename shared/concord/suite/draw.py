"""Random draws that follow from a task's secret, and cannot be predicted without it."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

SECRET_BYTES: Final = 32


def instance_secret(master: bytes, family: str, trial: str, attempt: int) -> bytes:
    """The secret of one task: HMAC-SHA256 of its family, trial and attempt under the assessment's secret."""
    return hmac.digest(master, json.dumps([family, trial, attempt]).encode(), "sha256")


def commitment(master: bytes) -> str:
    """The SHA-256 of an assessment's secret (hex), published before the secret is."""
    return hashlib.sha256(master).hexdigest()


class Draw:
    """A stream of uniform draws from a secret: HMAC-SHA256 in counter mode.

    `random.Random` does not promise the same choices in another release of Python, and its state can be computed from
    what it drew.
    """

    def __init__(self, secret: bytes) -> None:
        self._keyed = hmac.new(secret, digestmod="sha256")  # copied for each draw: half the time of keying anew
        self._counter = 0

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1. The bias is below `limit` / 2**256. Raises ValueError below 1."""
        if limit < 1:
            raise ValueError(f"no number is below {limit}")
        self._counter += 1
        block = self._keyed.copy()
        block.update(self._counter.to_bytes(8))
        return int.from_bytes(block.digest()) % limit

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        """True with that probability, to one in 2**32."""
        return self.below(2**32) < probability * 2**32

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """`items` in a random order (Fisher-Yates)."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different ones of `items`, in a random order. Raises ValueError if there are fewer."""
        if count > len(items):
            raise ValueError(f"{count} of {len(items)} cannot be drawn")
        return self.shuffled(items)[:count]

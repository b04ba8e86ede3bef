"""Blocks of known secrets: eight bytes each, which are looked for at every ninth position of a text."""

import struct
from collections.abc import Collection, Set
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZE: Final = 8
MIN_PART: Final = 16
"""Any part of a text of this length contains one of the blocks that are looked at."""

_STRIDE: Final = MIN_PART - SIZE + 1
_BLOCK: Final = struct.Struct("<" + f"Q{_STRIDE - SIZE}x" * 128)
_MIN_VECTOR: Final = 2048
"""The shortest text that is worth the calls of NumPy (bytes)."""

_BITS: Final = 21
_SPREAD: Final = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, which spreads blocks over a table (Knuth, volume 3, section 6.4)."""


def blocks_of(text: bytes) -> list[int]:
    """The blocks at all positions, as integers, in the order of their positions modulo `SIZE`."""
    starts = range(min(SIZE, max(0, len(text) - SIZE + 1)))
    return [block for start in starts for block in struct.unpack_from(f"<{(len(text) - start) // SIZE}Q", text, start)]


def block_at(text: bytes, at: int) -> int:
    """The block at a position, as an integer."""
    return int.from_bytes(text[at : at + SIZE], "little")


class KnownBlocks:
    """The blocks of all known secrets."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._table: _Table | None = None

    def scan_with_numpy(self) -> None:
        """From now on, long texts take a tenth of the time. Raises ImportError without NumPy."""
        self._table = _Table(self._known)

    def learn(self, blocks: Collection[int]) -> None:
        """Adds blocks."""
        self._known.update(blocks)
        if self._table is not None:
            self._table.add(blocks)

    def forget(self, blocks: Collection[int]) -> None:
        """Removes blocks."""
        self._known.difference_update(blocks)
        if self._table is not None and self._table.n_added > 2 * len(self._known):
            self._table = _Table(self._known)

    def __contains__(self, block: int) -> bool:
        return block in self._known

    def any_in(self, text: bytes) -> bool:
        """Whether one of the blocks that are looked at in a text is known. One is, if a part of `MIN_PART` is."""
        if not self._known:
            return False
        if self._table is not None and len(text) >= _MIN_VECTOR:
            return not self._known.isdisjoint(self._table.candidates(text))
        padded = text + bytes(-len(text) % _BLOCK.size)
        return not all(map(self._known.isdisjoint, _BLOCK.iter_unpack(padded)))


class _Table:
    """Tells most blocks of a text from the known ones by a table of hashes, all blocks at once."""

    def __init__(self, known: Set[int]) -> None:
        import numpy as np

        self._np = np
        self._holds = np.zeros(1 << _BITS, bool)
        self.n_added = 0
        self.add(known)

    def add(self, blocks: Collection[int]) -> None:
        """Adds blocks. They stay: a block that is forgotten becomes one more candidate."""
        self._holds[self._places(self._np.fromiter(blocks, self._np.uint64, len(blocks)))] = True
        self.n_added += len(blocks)

    def candidates(self, text: bytes) -> list[int]:
        """The blocks of a text that may be known."""
        np, number = self._np, (len(text) - SIZE) // _STRIDE + 1
        blocks = np.ndarray(number, "<u8", text, strides=_STRIDE)
        found: list[int] = blocks[self._holds[self._places(blocks)]].tolist()
        return found

    def _places(self, blocks: "NDArray[np.uint64]") -> "NDArray[np.int64]":
        hashes = blocks * self._np.uint64(_SPREAD)
        hashes >>= self._np.uint64(64 - _BITS)
        return hashes.view(self._np.int64)

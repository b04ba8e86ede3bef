"""Blocks of known secrets, eight bytes each, by which a text is searched for any part of one."""

import struct
from collections.abc import Collection, Iterable, Iterator, Set
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZE: Final = 8
MIN_PART: Final = 16
"""Any part of a text of this length contains a block at one of the positions that are looked at."""

_STRIDE: Final = MIN_PART - SIZE + 1
_AT_ONCE: Final = 128
_BLOCKS: Final = struct.Struct("<" + f"Q{_STRIDE - SIZE}x" * _AT_ONCE)
_MIN_VECTOR: Final = 2048
"""The shortest text that is worth the calls of NumPy (bytes)."""

_WORD: Final = 4
_SPREAD: Final = 0x9E3779B1
"""A prime near 2^32 divided by the golden ratio, which spreads words over a table (Knuth, volume 3, section 6.4)."""
_MIN_BITS: Final = 16
_MIN_ROOM: Final = 16
"""How many places a table has for each block when it is made, at least."""


def blocks_of(text: bytes) -> list[int]:
    """The blocks at all positions, as integers, in the order of their positions modulo `SIZE`."""
    starts = range(min(SIZE, max(0, len(text) - SIZE + 1)))
    return [block for start in starts for block in struct.unpack_from(f"<{(len(text) - start) // SIZE}Q", text, start)]


def block_at(text: bytes, at: int) -> int:
    """The block at a position, as an integer."""
    return int.from_bytes(text[at : at + SIZE], "little")


class KnownBlocks:
    """The blocks of all known secrets. `marks`: texts of 11 bytes or more, which `may_hold` looks for too."""

    def __init__(self, marks: Iterable[bytes]) -> None:
        self._known: set[int] = set()
        self._marks = {block for mark in marks for block in blocks_of(mark)}
        self._table: _Table | None = None

    def scan_with_numpy(self) -> None:
        """From now on, `may_hold` tells most texts that hold nothing. Raises ImportError without NumPy."""
        self._table = _Table(self._known | self._marks)

    def learn(self, blocks: Collection[int]) -> None:
        """Adds blocks."""
        self._known.update(blocks)
        if self._table is not None:
            self._table.add(blocks)
            if self._table.is_full:
                self.scan_with_numpy()

    def forget(self, blocks: Collection[int]) -> None:
        """Removes blocks."""
        self._known.difference_update(blocks)

    def __contains__(self, block: int) -> bool:
        return block in self._known

    def may_hold(self, text: bytes) -> bool:
        """False if a text holds neither a mark nor `MIN_PART` bytes of a secret. Always true for a short text."""
        if self._table is None or len(text) < _MIN_VECTOR:
            return True
        found = self._table.candidates(text)
        return not (self._known.isdisjoint(found) and self._marks.isdisjoint(found))

    def positions_in(self, text: bytes) -> Iterator[int]:
        """Ascending positions of known blocks in a text, at least one of them in each part of `MIN_PART` bytes."""
        if not self._known:
            return
        padded = text + bytes(-len(text) % _BLOCKS.size)
        for number, blocks in enumerate(_BLOCKS.iter_unpack(padded)):
            if not self._known.isdisjoint(blocks):
                first = number * _AT_ONCE
                yield from ((first + n) * _STRIDE for n, block in enumerate(blocks) if block in self._known)


class _Table:
    """Tells most blocks of a text from given ones by a table of the hashes of their words, all blocks at once.

    A block that is forgotten stays, and becomes one more candidate.
    """

    def __init__(self, blocks: Set[int]) -> None:
        import numpy as np

        self._np = np
        # As small as the blocks permit: in a table that fits the processor's caches, a text takes half of the time.
        self._bits = max(_MIN_BITS, (len(blocks) * _MIN_ROOM).bit_length())
        self._holds = np.zeros(1 << self._bits, bool)
        self._n_added = 0
        self.add(blocks)

    @property
    def is_full(self) -> bool:
        """Whether so many blocks were added that a new table finds fewer candidates."""
        return self._n_added * _MIN_ROOM > 2 * len(self._holds)

    def add(self, blocks: Collection[int]) -> None:
        """Adds blocks."""
        added = self._np.fromiter(blocks, self._np.uint64, len(blocks))
        self._holds[self._places(added.view(self._np.uint32))] = True
        self._n_added += len(blocks)

    def candidates(self, text: bytes) -> list[int]:
        """The blocks at every fourth position whose two words are both in the table.

        Of these positions, 11 bytes hold a whole block, wherever they begin.
        """
        np = self._np
        held = self._holds.take(self._places(np.frombuffer(text, "<u4", len(text) // _WORD)))
        (at,) = np.nonzero(held[:-1] & held[1:])
        blocks = np.ndarray(len(held) - 1, "<u8", text, strides=_WORD)
        found: list[int] = blocks[at].tolist()
        return found

    def _places(self, words: "NDArray[np.uint32]") -> "NDArray[np.uint32]":
        hashes = words * self._np.uint32(_SPREAD)
        hashes >>= self._np.uint32(32 - self._bits)
        return hashes

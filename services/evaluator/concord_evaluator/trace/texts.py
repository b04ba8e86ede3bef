"""Texts: many ids in one buffer of bytes, which takes a third of the memory of as many strings."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, overload

import numpy as np

from concord_evaluator.trace.trees import Numbers

_Places: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int32]] | Numbers"
_Lengths: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int32]]"
_Eights: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.uint64]]"
_Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"

_EIGHT: Final = 8
"""Bytes by which texts are compared at first; UTF-8 sorts as its characters do."""

SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""Spreads numbers over all bits (Knuth's multiplicative hashing)."""

_AT_ONCE: Final = 1 << 14
"""Texts that are compared at once, so that comparing takes little memory."""

_FEW: Final = 64
"""Texts that are sooner sorted as strings than compared as arrays."""


class TextBuffer:
    """Grows by texts."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lengths: list[_Lengths] = [np.zeros(0, np.int32)]

    def add(self, texts: Sequence[str]) -> None:
        """Adds these texts."""
        joined = "".join(texts)
        if joined.isascii():
            self._data += joined.encode()
            self._lengths.append(np.fromiter(map(len, texts), np.int32, len(texts)))
        else:
            encoded = [_encoded(text) for text in texts]
            self._data += b"".join(encoded)
            self._lengths.append(np.fromiter(map(len, encoded), np.int32, len(encoded)))

    def texts(self) -> "Texts":
        """All texts, in their order. Forgets them, so that memory does not hold them twice."""
        lengths = np.concatenate(self._lengths)
        data, self._data = self._data, bytearray()
        begins = np.cumsum(lengths, dtype=np.int64) - lengths
        small = begins.astype(np.int32) if len(data) < 2**31 else begins
        data += bytes(_EIGHT)
        return Texts(np.frombuffer(data, np.uint8), small, lengths)


@dataclass(frozen=True, slots=True)
class Texts(Sequence[str]):
    """Texts in UTF-8: where each begins in `data`, and its length in bytes. Eight more bytes follow the last one."""

    data: "np.ndarray[tuple[int], np.dtype[np.uint8]]"
    begins: _Places
    lengths: _Lengths

    def __len__(self) -> int:
        return len(self.begins)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        begin = int(self.begins[place])
        return self.data[begin : begin + int(self.lengths[place])].tobytes().decode("utf-8", "surrogatepass")

    def only(self, chosen: "_Places | _Flags") -> "Texts":
        """These texts, in the same buffer: their places, or by text whether it is one of them."""
        return Texts(self.data, self.begins[chosen], self.lengths[chosen])

    def equals(self, other: "Texts") -> bool:
        """Whether each text equals the one in the same place of the other, which has as many."""
        if (self.lengths != other.lengths).any():
            return False
        for some in self._blocks(np.arange(len(self))):
            for length in np.unique(self.lengths[some]).tolist():
                alike = some[self.lengths[some] == length]
                if (self._bytes(alike, length) != other._bytes(alike, length)).any():
                    return False
        return True

    def smallest(self, places: _Places, at_most: int) -> list[str]:
        """The first `at_most` distinct ones of the texts in these places as they sort."""
        if len(places) <= _FEW:
            return sorted(set(self._in(places)))[:at_most]
        found: list[str] = []
        for some in self._blocks(places):
            prefixes = self._eight(some)
            some = some[prefixes <= np.unique(prefixes)[:at_most][-1]]
            keys = self._padded(some)
            if len(found) == at_most:
                before = keys <= _encoded(found[-1])
                some, keys = some[before], keys[before]
            some = some[keys <= np.unique(keys)[:at_most][-1]] if len(some) else some
            found = sorted({*found, *self._in(some)})[:at_most]
        return found

    def places(self, wanted: Collection[str]) -> Numbers:
        """The places of the texts that are among the wanted ones."""
        sought = TextBuffer()
        sought.add([*wanted])
        marks = (texts := sought.texts())._marks(np.arange(len(texts)))
        found: list[int] = []
        for some in self._blocks(np.arange(len(self))):
            alike = some[np.isin(self._marks(some), marks)].tolist()
            found += [place for place in alike if self[place] in wanted]
        return np.array(found, np.int64)

    def _in(self, places: _Places) -> Iterator[str]:
        """The texts in these places."""
        return map(self.__getitem__, places.tolist())

    def _blocks(self, places: _Places) -> Iterator[_Places]:
        return (places[first : first + _AT_ONCE] for first in range(0, len(places), _AT_ONCE))

    def _bytes(self, places: _Places, length: int) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
        found: np.ndarray[tuple[int, int], np.dtype[np.uint8]] = self.data[
            self.begins[places][:, None] + np.arange(length)
        ]
        return found

    def _eight(self, places: _Places, *, last: bool = False) -> _Eights:
        """The first or the last eight bytes of texts, as numbers that sort as they do. A shorter text ends in zeros."""
        lengths = np.minimum(self.lengths[places], _EIGHT)
        begins = self.begins[places] + (self.lengths[places] - lengths if last else 0)
        found = self.data[begins[:, None] + np.arange(_EIGHT)]
        found[np.arange(_EIGHT) >= lengths[:, None]] = 0
        eights: _Eights = found.view(">u8").ravel().astype(np.uint64)
        return eights

    def _marks(self, places: _Places) -> _Eights:
        """Numbers that are equal for equal texts, and seldom for others: many ids have long beginnings in common."""
        return self._eight(places) * SPREAD ^ self._eight(places, last=True)

    def _padded(self, places: _Places) -> "np.ndarray[tuple[int], np.dtype[np.bytes_]]":
        """Texts for a comparison that takes zeros at their ends for none."""
        lengths = self.lengths[places]
        longest = int(lengths.max(initial=1))
        at = np.minimum(self.begins[places][:, None] + np.arange(longest), len(self.data) - 1)
        found = self.data[at]
        found[np.arange(longest) >= lengths[:, None]] = 0
        padded: np.ndarray[tuple[int], np.dtype[np.bytes_]] = found.view(f"S{longest}").ravel()
        return padded


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

"""What a table keeps of its rows' order: their places, groups of them under words, and how many there are of a kind."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from sortedcontainers import SortedList

Row = TypeVar("Row")
SortKey = tuple[Any, ...]
"""Where a row stands in its table's order: compared as a tuple, its key last."""

IndexValues = Callable[[Row], tuple[str, ...]]
"""The words under which a row is found; each once."""

SortKeys = SortedList[SortKey]

_FEW: Final = 8
"""Up to one in so many places are taken out one by one; where it is more, the others are put together anew."""


_NOWHERE: Final[SortKey] = ()

_Write = tuple[Row | None, SortKey, Row | None, SortKey]
"""A row and its place, and what is there instead."""


class Order(Generic[Row]):
    """The order of a table's rows, brought up to date when somebody looks.

    It follows from the rows alone, so it may lag behind the writes to them; and to catch up with many writes takes a
    part of what following each would.
    """

    def __init__(
        self,
        rows: Mapping[str, Row],
        order: Callable[[Row], SortKey],
        indexes: Mapping[str, IndexValues[Row]],
        kind: Callable[[Row], Hashable] | None,
    ) -> None:
        self._rows = rows
        self.of = order
        """A row's place, but for its key."""
        self._indexes = indexes
        self._kind = kind
        self._places: SortKeys = SortedList()
        self._place_of: dict[str, SortKey] = {}
        self._groups: dict[str, dict[str, SortKeys]] = {index: {} for index in indexes}
        self._kinds: Counter[Hashable] = Counter()
        self.behind: dict[str, Row | None] = {}
        """Of each key that was written since somebody looked, the row that stood there then."""

    def places(self) -> SortKeys:
        """The places of all rows."""
        self._catch_up()
        return self._places

    def groups(self, index: str) -> Mapping[str, SortKeys]:
        """The places of the rows that an index has under each word."""
        self._catch_up()
        return self._groups[index]

    def kinds(self) -> Mapping[Any, int]:
        """How many rows there are of each kind."""
        self._catch_up()
        return self._kinds

    def _catch_up(self) -> None:
        if not self.behind:
            return
        writes = [self._write(key, before) for key, before in self.behind.items()]
        self.behind.clear()
        moved = [(was, now) for _, was, _, now in writes if was != now]
        _shift(self._places, [was for was, _ in moved if was], [now for _, now in moved if now])
        for index, words_of in self._indexes.items():
            _regroup(self._groups[index], words_of, writes)
        if self._kind is not None:
            _recount(self._kinds, self._kind, writes)

    def _write(self, key: str, before: Row | None) -> _Write[Row]:
        after = self._rows.get(key)
        was = self._place_of.get(key, _NOWHERE)
        if after is None:
            self._place_of.pop(key, None)
            return before, was, None, _NOWHERE
        now = self._place_of[key] = (*self.of(after), key)
        return before, was, after, now


def _shift(places: SortKeys, gone: Sequence[SortKey], come: Sequence[SortKey]) -> None:
    if len(gone) * _FEW > len(places):
        left = set(gone)
        kept = [place for place in places if place not in left]
        places.clear()
        places.update(kept)
    else:
        for place in gone:
            places.remove(place)
    places.update(come)


def _regroup(groups: dict[str, SortKeys], words_of: IndexValues[Row], writes: Sequence[_Write[Row]]) -> None:
    gone, come = defaultdict[str, list[SortKey]](list), defaultdict[str, list[SortKey]](list)
    for before, was, after, now in writes:
        left = () if before is None else words_of(before)
        joined = () if after is None else words_of(after)
        if left != joined or was != now:
            for word in left:
                gone[word].append(was)
            for word in joined:
                come[word].append(now)
    for word in {**gone, **come}:
        if word not in groups:
            groups[word] = SortedList()
        _shift(groups[word], gone[word], come[word])
        if not groups[word]:
            del groups[word]


def _recount(kinds: Counter[Hashable], kind: Callable[[Row], Hashable], writes: Sequence[_Write[Row]]) -> None:
    for before, _, after, _ in writes:
        if before is not None:
            kinds[kind(before)] -= 1
        if after is not None:
            kinds[kind(after)] += 1

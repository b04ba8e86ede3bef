"""The order of a table's rows: their sort keys, the groups of its indexes, and the number of rows of each kind."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from sortedcontainers import SortedList

Row = TypeVar("Row")
SortKey = tuple[Any, ...]
"""A row's position in its table's order, compared as a tuple. Its last element is the row's key."""

IndexValues = Callable[[Row], tuple[str, ...]]
"""Gives the values under which an index lists a row, without duplicates."""

SortKeys = SortedList[SortKey]

_REBUILD_RATIO: Final = 8
"""A list is rebuilt if more than one in this many of its sort keys are removed. Otherwise they are removed singly."""


_NO_SORT_KEY: Final[SortKey] = ()

_Write = tuple[Row | None, SortKey, Row | None, SortKey]
"""A row and its sort key, before and after a write."""


class Order(Generic[Row]):
    """The order of a table's rows, updated when it is next read.

    Applying many writes at once costs a fraction of applying each.
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
        """Gives a row's sort key without the row's key."""
        self._indexes = indexes
        self._kind = kind
        self._sort_keys: SortKeys = SortedList()
        self._sort_key_of: dict[str, SortKey] = {}
        self._groups: dict[str, dict[str, SortKeys]] = {index: {} for index in indexes}
        self._kinds: Counter[Hashable] = Counter()
        self.unapplied: dict[str, Row | None] = {}
        """The keys written since the last update, each with its row at that time."""

    def sort_keys(self) -> SortKeys:
        """The sort keys of all rows."""
        self._catch_up()
        return self._sort_keys

    def groups(self, index: str) -> Mapping[str, SortKeys]:
        """The sort keys of the rows that an index lists under each value."""
        self._catch_up()
        return self._groups[index]

    def kinds(self) -> Mapping[Any, int]:
        """The number of rows of each kind."""
        self._catch_up()
        return self._kinds

    def _catch_up(self) -> None:
        if not self.unapplied:
            return
        writes = [self._write(key, before) for key, before in self.unapplied.items()]
        self.unapplied.clear()
        moved = [(was, now) for _, was, _, now in writes if was != now]
        _shift(self._sort_keys, [was for was, _ in moved if was], [now for _, now in moved if now])
        for index, values_of in self._indexes.items():
            _regroup(self._groups[index], values_of, writes)
        if self._kind is not None:
            _recount(self._kinds, self._kind, writes)

    def _write(self, key: str, before: Row | None) -> _Write[Row]:
        after = self._rows.get(key)
        was = self._sort_key_of.get(key, _NO_SORT_KEY)
        if after is None:
            self._sort_key_of.pop(key, None)
            return before, was, None, _NO_SORT_KEY
        now = self._sort_key_of[key] = (*self.of(after), key)
        return before, was, after, now


def _shift(sort_keys: SortKeys, removed: Sequence[SortKey], added: Sequence[SortKey]) -> None:
    if len(removed) * _REBUILD_RATIO > len(sort_keys):
        left = set(removed)
        kept = [sort_key for sort_key in sort_keys if sort_key not in left]
        sort_keys.clear()
        sort_keys.update(kept)
    else:
        for sort_key in removed:
            sort_keys.remove(sort_key)
    sort_keys.update(added)


def _regroup(groups: dict[str, SortKeys], values_of: IndexValues[Row], writes: Sequence[_Write[Row]]) -> None:
    removed, added = defaultdict[str, list[SortKey]](list), defaultdict[str, list[SortKey]](list)
    for before, was, after, now in writes:
        left = () if before is None else values_of(before)
        joined = () if after is None else values_of(after)
        if left != joined or was != now:
            for value in left:
                removed[value].append(was)
            for value in joined:
                added[value].append(now)
    for value in {**removed, **added}:
        if value not in groups:
            groups[value] = SortedList()
        _shift(groups[value], removed[value], added[value])
        if not groups[value]:
            del groups[value]


def _recount(kinds: Counter[Hashable], kind: Callable[[Row], Hashable], writes: Sequence[_Write[Row]]) -> None:
    for before, _, after, _ in writes:
        if before is not None:
            kinds[kind(before)] -= 1
        if after is not None:
            kinds[kind(after)] += 1

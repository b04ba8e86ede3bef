"""Tables of immutable rows, kept in order and indexed, whose every write can be taken back."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter
from sortedcontainers import SortedList

Row = TypeVar("Row")
Place = tuple[Any, ...]
"""Where a row stands in its table's order: compared as a tuple, its key last."""

Words = Callable[[Row], tuple[str, ...]]
"""The words under which a row is found; each once."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Change(NamedTuple):
    """One write to a table: what stood under a key before and after; None is nothing."""

    table: "Table[Any]"
    key: str
    before: Any
    after: Any


@cache
def _adapter(row: type[Row]) -> TypeAdapter[Row]:
    # To build one takes a hundred times as long as to fill a small table, and every fork has new tables.
    return TypeAdapter(row)


class Table(Generic[Row]):
    """Rows by key.

    `order` gives a row's place; a table without one keeps no order and has no indexes. `stays` says that whatever is
    written under a key has the place of what stood there. `indexes` group rows under words and keep each group in order
    (a folder's mails); `lookups` group them without order, for small groups (a thread's mails). `kind` says what rows
    are counted by.
    """

    def __init__(
        self,
        name: str,
        row: type[Row],
        *,
        order: Callable[[Row], Place] | None = None,
        stays: bool = False,
        indexes: Mapping[str, Words[Row]] = _NOTHING,
        lookups: Mapping[str, Words[Row]] = _NOTHING,
        kind: Callable[[Row], Hashable] | None = None,
        digest: Callable[[Row], bytes] | None = None,
    ) -> None:
        self.name = name
        self.adapter: TypeAdapter[Row] = _adapter(row)  # type: ignore[arg-type]  # classes are hashable
        self.digest = digest or self.adapter.dump_json
        """What of a row goes into the chain of hashes."""
        self._order = order
        self._stays = stays
        self._kind = kind
        self._plain = order is None and not lookups and kind is None
        self.kinds: Counter[Any] = Counter()
        """How many rows there are of each kind."""
        self._rows: dict[str, Row] = {}
        self._places: SortedList[Place] = SortedList()
        self._place_of: dict[str, Place] = {}
        self._grouped: dict[str, dict[str, SortedList[Place]]] = {index: {} for index in indexes}
        self._found: dict[str, dict[str, dict[str, None]]] = {lookup: {} for lookup in lookups}
        self._indexes = [(self._grouped[index], words_of) for index, words_of in indexes.items()]
        self._lookups = [(self._found[lookup], words_of) for lookup, words_of in lookups.items()]

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def get(self, key: str) -> Row | None:
        """The row under a key, if there is one."""
        return self._rows.get(key)

    def items(self) -> Iterator[tuple[str, Row]]:
        """Keys and rows: in order where the table has one, else by key."""
        keys = (place[-1] for place in self._places) if self._order else iter(sorted(self._rows))
        return ((key, self._rows[key]) for key in keys)

    def rows(self, *, latest_first: bool = False) -> Iterator[Row]:
        """The rows, in order."""
        if latest_first:
            return (self._rows[place[-1]] for place in reversed(self._places))
        return (row for _, row in self.items())

    def window(self, start: int, stop: int, *, latest_first: bool = False) -> list[Row]:
        """The rows from place `start` up to `stop`, counted from the front or from the back of the order."""
        return self._slice(self._places, start, stop, latest_first)

    def group(self, index: str, word: str, *, latest_first: bool = False) -> Iterator[Row]:
        """The rows that an index has under a word, in order."""
        places = self._grouped[index].get(word, ())
        return (self._rows[place[-1]] for place in (reversed(places) if latest_first else places))

    def group_size(self, index: str, word: str) -> int:
        """How many rows an index has under a word, without looking at them."""
        return len(self._grouped[index].get(word, ()))

    def group_window(self, index: str, word: str, start: int, stop: int, *, latest_first: bool = False) -> list[Row]:
        """Like `window`, within one group."""
        places = self._grouped[index].get(word)
        return [] if places is None else self._slice(places, start, stop, latest_first)

    def first(self, index: str, word: str) -> Row | None:
        """The first row that an index has under a word."""
        places = self._grouped[index].get(word)
        return self._rows[places[0][-1]] if places else None

    def words(self, index: str) -> list[str]:
        """The words under which an index has rows."""
        return sorted(self._grouped[index])

    def found(self, lookup: str, *words: str) -> list[Row]:
        """The rows that a lookup has under words of which no row has two, in the table's order."""
        rows = [self._rows[key] for word in words for key in self._found[lookup].get(word, ())]
        return sorted(rows, key=self._order) if self._order and len(rows) > 1 else rows

    def last_found(self, lookup: str, word: str) -> Row | None:
        """Of the rows that a lookup has under a word, the last one written there."""
        keys = self._found[lookup].get(word)
        return self._rows[next(reversed(keys))] if keys else None

    def latest_found(self, lookup: str, word: str) -> Iterator[Row]:
        """The rows that a lookup has under a word, the last one written there first."""
        return (self._rows[key] for key in reversed(self._found[lookup].get(word, {})))

    def found_words(self, lookup: str) -> Collection[str]:
        """The words under which a lookup has rows."""
        return self._found[lookup].keys()

    def write(self, key: str, row: Row | None) -> Change:
        """Puts a row under a key, or with None takes it away."""
        rows = self._rows
        before = rows.get(key)
        if row is None:
            if before is not None:
                del rows[key]
                self._leave(key, before)
        else:
            rows[key] = row
            if before is None:
                self._enter(key, row)
            elif not self._plain:
                self._replace(key, before, row)
        return Change(self, key, before, row)

    def _enter(self, key: str, row: Row) -> None:
        if self._order is not None:
            place = self._place_of[key] = (*self._order(row), key)
            self._places.add(place)
            for groups, words_of in self._indexes:
                for word in words_of(row):
                    _add(groups, word, place)
        for found, words_of in self._lookups:
            for word in words_of(row):
                _note(found, word, key)
        if self._kind is not None:
            self.kinds[self._kind(row)] += 1

    def _leave(self, key: str, row: Row) -> None:
        if self._order is not None:
            place = self._place_of.pop(key)
            self._places.remove(place)
            for groups, words_of in self._indexes:
                for word in words_of(row):
                    _remove(groups, word, place)
        for found, words_of in self._lookups:
            for word in words_of(row):
                _forget(found, word, key)
        if self._kind is not None:
            self.kinds[self._kind(row)] -= 1

    def _replace(self, key: str, before: Row, row: Row) -> None:
        if self._order is not None:
            place = self._place_of[key]
            if not self._stays and (*self._order(row), key) != place:
                self._leave(key, before)
                self._enter(key, row)
                return
            for groups, words_of in self._indexes:
                was, now = words_of(before), words_of(row)
                if was != now:
                    _regroup(groups, was, now, place)
        for found, words_of in self._lookups:
            was, now = words_of(before), words_of(row)
            if was != now:
                for word in was:
                    _forget(found, word, key)
                for word in now:
                    _note(found, word, key)
        if self._kind is not None:
            self.kinds[self._kind(before)] -= 1
            self.kinds[self._kind(row)] += 1

    def _slice(self, places: "SortedList[Place]", start: int, stop: int, latest_first: bool) -> list[Row]:
        size = len(places)
        start, stop = min(start, size), min(stop, size)
        if latest_first:
            start, stop = size - stop, size - start
        rows = [self._rows[place[-1]] for place in places.islice(start, stop)]
        return rows[::-1] if latest_first else rows


def _add(groups: dict[str, "SortedList[Place]"], word: str, place: Place) -> None:
    group = groups.get(word)
    if group is None:
        group = groups[word] = SortedList()
    group.add(place)


def _remove(groups: dict[str, "SortedList[Place]"], word: str, place: Place) -> None:
    group = groups[word]
    group.remove(place)
    if not group:
        del groups[word]


def _regroup(groups: dict[str, "SortedList[Place]"], was: tuple[str, ...], now: tuple[str, ...], place: Place) -> None:
    for word in was:
        _remove(groups, word, place)
    for word in now:
        _add(groups, word, place)


def _note(found: dict[str, dict[str, None]], word: str, key: str) -> None:
    keys = found.get(word)
    if keys is None:
        found[word] = {key: None}
    else:
        keys[key] = None


def _forget(found: dict[str, dict[str, None]], word: str, key: str) -> None:
    keys = found[word]
    del keys[key]
    if not keys:
        del found[word]

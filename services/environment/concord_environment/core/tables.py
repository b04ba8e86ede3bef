"""Tables of immutable rows, kept in order and indexed, whose every write can be taken back."""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter
from sortedcontainers import SortedList

from concord_environment.core.order import IndexValues, Order, SortKey, SortKeys

Row = TypeVar("Row")

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_NOWHERE: Final[SortKeys] = SortedList()


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


def _by_key(row: object) -> SortKey:  # noqa: ARG001 - a table's order is asked with the row
    return ()


class Table(Generic[Row]):
    """Rows by key.

    `order` gives a row's place; in a table without one they stand by key. `indexes` group rows under words and keep
    each group in order (a folder's mails); `lookups` group them in the order of writing, for small groups (a thread's
    mails) and for what actions ask. `kind` says what rows are counted by.
    """

    def __init__(
        self,
        name: str,
        row: type[Row],
        *,
        order: Callable[[Row], SortKey] = _by_key,
        indexes: Mapping[str, IndexValues[Row]] = _NOTHING,
        lookups: Mapping[str, IndexValues[Row]] = _NOTHING,
        kind: Callable[[Row], Hashable] | None = None,
        digest: Callable[[Row], bytes] | None = None,
    ) -> None:
        self.name = name
        self.adapter: TypeAdapter[Row] = _adapter(row)  # type: ignore[arg-type]  # classes are hashable
        self.digest = digest or self.adapter.dump_json
        """What of a row goes into the chain of hashes."""
        self._rows: dict[str, Row] = {}
        self._order = Order(self._rows, order, indexes, kind)
        self._behind = self._order.behind
        self._found: dict[str, dict[str, dict[str, None]]] = {lookup: {} for lookup in lookups}
        self._lookups = [(self._found[lookup], words_of) for lookup, words_of in lookups.items()]

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def get(self, key: str) -> Row | None:
        """The row under a key, if there is one."""
        return self._rows.get(key)

    @property
    def kinds(self) -> Mapping[Any, int]:
        """How many rows there are of each kind."""
        return self._order.kinds()

    def items(self) -> Iterator[tuple[str, Row]]:
        """Keys and rows, in order."""
        return ((place[-1], self._rows[place[-1]]) for place in self._order.places())

    def rows(self, *, latest_first: bool = False) -> Iterator[Row]:
        """The rows, in order."""
        return self._of(self._order.places(), latest_first)

    def window(self, start: int, stop: int, *, latest_first: bool = False) -> list[Row]:
        """The rows from place `start` up to `stop`, counted from the front or from the back of the order."""
        return self._slice(self._order.places(), start, stop, latest_first)

    def group(self, index: str, word: str, *, latest_first: bool = False) -> Iterator[Row]:
        """The rows that an index has under a word, in order."""
        return self._of(self._group(index, word), latest_first)

    def group_size(self, index: str, word: str) -> int:
        """How many rows an index has under a word, without looking at them."""
        return len(self._group(index, word))

    def group_window(self, index: str, word: str, start: int, stop: int, *, latest_first: bool = False) -> list[Row]:
        """Like `window`, within one group."""
        return self._slice(self._group(index, word), start, stop, latest_first)

    def first(self, index: str, word: str) -> Row | None:
        """The first row that an index has under a word."""
        return next(self.group(index, word), None)

    def index_values(self, index: str) -> list[str]:
        """The words under which an index has rows."""
        return sorted(self._order.groups(index))

    def found(self, lookup: str, *words: str) -> list[Row]:
        """The rows that a lookup has under words of which no row has two, in the table's order."""
        rows = [self._rows[key] for word in words for key in self._found[lookup].get(word, ())]
        return sorted(rows, key=self._order.of) if len(rows) > 1 else rows

    def last_found(self, lookup: str, word: str) -> Row | None:
        """Of the rows that a lookup has under a word, the last one written there."""
        keys = self._found[lookup].get(word)
        return self._rows[next(reversed(keys))] if keys else None

    def latest_found(self, lookup: str, word: str) -> Iterator[Row]:
        """The rows that a lookup has under a word, the last one written there first."""
        return (self._rows[key] for key in reversed(self._found[lookup].get(word, {})))

    def lookup_values(self, lookup: str) -> Collection[str]:
        """The words under which a lookup has rows."""
        return self._found[lookup].keys()

    def write(self, key: str, row: Row | None) -> Change:
        """Puts a row under a key, or with None takes it away."""
        before = self._rows.get(key)
        if row is not None:
            self._rows[key] = row
        elif before is not None:
            del self._rows[key]
        self._behind.setdefault(key, before)
        for found, words_of in self._lookups:
            was = () if before is None else words_of(before)
            now = () if row is None else words_of(row)
            if was != now:
                for word in was:
                    _forget(found, word, key)
                for word in now:
                    if word in found:
                        found[word][key] = None
                    else:
                        found[word] = {key: None}
        return Change(self, key, before, row)

    def _group(self, index: str, word: str) -> SortKeys:
        return self._order.groups(index).get(word, _NOWHERE)

    def _of(self, places: SortKeys, latest_first: bool) -> Iterator[Row]:
        return (self._rows[place[-1]] for place in (reversed(places) if latest_first else places))

    def _slice(self, places: SortKeys, start: int, stop: int, latest_first: bool) -> list[Row]:
        size = len(places)
        start, stop = min(start, size), min(stop, size)
        if latest_first:
            start, stop = size - stop, size - start
        rows = [self._rows[place[-1]] for place in places.islice(start, stop)]
        return rows[::-1] if latest_first else rows


def _forget(found: dict[str, dict[str, None]], word: str, key: str) -> None:
    keys = found[word]
    del keys[key]
    if not keys:
        del found[word]

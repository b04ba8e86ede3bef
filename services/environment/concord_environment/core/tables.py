"""Tables of immutable rows, ordered and indexed, with reversible writes."""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter
from sortedcontainers import SortedList

from concord_environment.core.order import IndexValues, Order, SortKey, SortKeys

Row = TypeVar("Row")

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_NO_SORT_KEYS: Final[SortKeys] = SortedList()
_FEW: Final = 8
"""More than one in this many rows are faster to pick out of all rows in order than to sort."""


class Change(NamedTuple):
    """One write to a table: the row under a key before and after. None stands for no row."""

    table: "Table[Any]"
    key: str
    before: Any
    after: Any


@cache
def _adapter(row: type[Row]) -> TypeAdapter[Row]:
    # Every world has new tables, and building an adapter takes far longer than filling a small table.
    return TypeAdapter(row)


def _by_key(row: object) -> SortKey:  # noqa: ARG001 - the signature of an order
    return ()


class Table(Generic[Row]):
    """Rows by key.

    `order` gives a row's sort key; by default rows are ordered by their keys. An index lists rows under values and
    keeps each list in order (the mails of a folder). A lookup lists them in the order of writing: it suits small lists
    (the mails of a thread) and reads between writes. `kind` gives the kind by which rows are counted.
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
        """Gives the part of a row that enters the hash chain."""
        self._rows: dict[str, Row] = {}
        self._order = Order(self._rows, order, indexes, kind)
        self._unapplied = self._order.unapplied
        self._found: dict[str, dict[str, dict[str, None]]] = {lookup: {} for lookup in lookups}
        self._lookups = [(self._found[lookup], values_of) for lookup, values_of in lookups.items()]

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def get(self, key: str) -> Row | None:
        """The row under a key, or None."""
        return self._rows.get(key)

    @property
    def kinds(self) -> Mapping[Any, int]:
        """The number of rows of each kind."""
        return self._order.kinds()

    def items(self) -> Iterator[tuple[str, Row]]:
        """Keys and rows, in order."""
        return ((sort_key[-1], self._rows[sort_key[-1]]) for sort_key in self._order.sort_keys())

    def rows(self, *, latest_first: bool = False) -> Iterator[Row]:
        """The rows, in order."""
        return self._of(self._order.sort_keys(), latest_first)

    def window(self, start: int, stop: int, *, latest_first: bool = False) -> list[Row]:
        """The rows from position `start` up to `stop`. With `latest_first`, positions count from the last row."""
        return self._slice(self._order.sort_keys(), start, stop, latest_first)

    def group(self, index: str, value: str, *, latest_first: bool = False) -> Iterator[Row]:
        """The rows that an index lists under a value, in order."""
        return self._of(self._group(index, value), latest_first)

    def group_size(self, index: str, value: str) -> int:
        """The number of rows that an index lists under a value."""
        return len(self._group(index, value))

    def group_window(self, index: str, value: str, start: int, stop: int, *, latest_first: bool = False) -> list[Row]:
        """Like `window`, of the rows that an index lists under a value."""
        return self._slice(self._group(index, value), start, stop, latest_first)

    def first(self, index: str, value: str) -> Row | None:
        """The first row that an index lists under a value, or None."""
        return next(self.group(index, value), None)

    def index_values(self, index: str) -> list[str]:
        """The values under which an index lists rows."""
        return sorted(self._order.groups(index))

    def found(self, lookup: str, *values: str) -> list[Row]:
        """The rows that a lookup lists under the values, in order. No row may have two of the values."""
        keys = [key for value in values for key in self._found[lookup].get(value, ())]
        if len(keys) == len(self._rows) > 1:
            return list(self.rows())
        if len(keys) > 1 and len(keys) * _FEW > len(self._rows):
            chosen = set(keys)
            return [self._rows[sort_key[-1]] for sort_key in self._order.sort_keys() if sort_key[-1] in chosen]
        rows = [self._rows[key] for key in keys]
        return sorted(rows, key=self._order.of) if len(rows) > 1 else rows

    def last_found(self, lookup: str, value: str) -> Row | None:
        """The row that a lookup listed last under a value, or None."""
        keys = self._found[lookup].get(value)
        return self._rows[next(reversed(keys))] if keys else None

    def latest_found(self, lookup: str, value: str) -> Iterator[Row]:
        """The rows that a lookup lists under a value, the last listed first."""
        return (self._rows[key] for key in reversed(self._found[lookup].get(value, {})))

    def lookup_values(self, lookup: str) -> Collection[str]:
        """The values under which a lookup lists rows."""
        return self._found[lookup].keys()

    def write(self, key: str, row: Row | None) -> Change:
        """Writes a row under a key. None deletes the row there."""
        before = self._rows.get(key)
        if row is not None:
            self._rows[key] = row
        elif before is not None:
            del self._rows[key]
        self._unapplied.setdefault(key, before)
        for found, values_of in self._lookups:
            was = () if before is None else values_of(before)
            now = () if row is None else values_of(row)
            if was != now:
                for value in was:
                    _forget(found, value, key)
                for value in now:
                    if value in found:
                        found[value][key] = None
                    else:
                        found[value] = {key: None}
        return Change(self, key, before, row)

    def _group(self, index: str, value: str) -> SortKeys:
        return self._order.groups(index).get(value, _NO_SORT_KEYS)

    def _of(self, sort_keys: SortKeys, latest_first: bool) -> Iterator[Row]:
        return (self._rows[sort_key[-1]] for sort_key in (reversed(sort_keys) if latest_first else sort_keys))

    def _slice(self, sort_keys: SortKeys, start: int, stop: int, latest_first: bool) -> list[Row]:
        size = len(sort_keys)
        start, stop = min(start, size), min(stop, size)
        if latest_first:
            start, stop = size - stop, size - start
        rows = [self._rows[sort_key[-1]] for sort_key in sort_keys.islice(start, stop)]
        return rows[::-1] if latest_first else rows


def _forget(found: dict[str, dict[str, None]], value: str, key: str) -> None:
    keys = found[value]
    del keys[key]
    if not keys:
        del found[value]

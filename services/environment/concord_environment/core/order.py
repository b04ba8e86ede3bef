"""What a table keeps of its rows' order: their places, groups of them under words, and how many there are of a kind."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from sortedcontainers import SortedList

Row = TypeVar("Row")
Place = tuple[Any, ...]
"""Where a row stands in its table's order: compared as a tuple, its key last."""

Words = Callable[[Row], tuple[str, ...]]
"""The words under which a row is found; each once."""

Places = SortedList[Place]

_FEW = 8
"""Up to one in so many places are taken out one by one; where it is more, the others are put together anew."""


class _Move(NamedTuple):
    gone: list[Place]
    come: list[Place]


class Order(Generic[Row]):
    """The order of a table's rows, brought up to date when somebody looks.

    It follows from the rows alone, so it may lag behind the writes to them; and to catch up with many writes takes a
    part of what following each would.
    """

    def __init__(
        self,
        rows: Mapping[str, Row],
        order: Callable[[Row], Place],
        indexes: Mapping[str, Words[Row]],
        kind: Callable[[Row], Hashable] | None,
    ) -> None:
        self._rows = rows
        self.of = order
        """A row's place, but for its key."""
        self._indexes = indexes
        self._kind = kind
        self._places: Places = SortedList()
        self._place_of: dict[str, Place] = {}
        self._groups: dict[str, dict[str, Places]] = {index: {} for index in indexes}
        self._kinds: Counter[Hashable] = Counter()
        self.behind: dict[str, Row | None] = {}
        """Of each key that was written since somebody looked, the row that stood there then."""

    def places(self) -> Places:
        """The places of all rows."""
        self._catch_up()
        return self._places

    def groups(self, index: str) -> Mapping[str, Places]:
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
        whole, parts = _Move([], []), {index: defaultdict[str, _Move](lambda: _Move([], [])) for index in self._indexes}
        for key, before in self.behind.items():
            after = self._rows.get(key)
            was, now = self._place_of.get(key), None if after is None else (*self.of(after), key)
            self._move(key, was, now, whole)
            for index, words_of in self._indexes.items():
                left = () if before is None else words_of(before)
                joined = () if after is None else words_of(after)
                if was != now or left != joined:
                    _regroup(parts[index], left, was, joined, now)
            self._recount(before, after)
        self.behind.clear()
        _shift(self._places, whole)
        for index, moves in parts.items():
            _shift_groups(self._groups[index], moves)

    def _move(self, key: str, was: Place | None, now: Place | None, move: _Move) -> None:
        if was == now:
            return
        if was is not None:
            move.gone.append(was)
            del self._place_of[key]
        if now is not None:
            move.come.append(now)
            self._place_of[key] = now

    def _recount(self, before: Row | None, after: Row | None) -> None:
        if self._kind is not None:
            if before is not None:
                self._kinds[self._kind(before)] -= 1
            if after is not None:
                self._kinds[self._kind(after)] += 1


def _regroup(
    moves: Mapping[str, _Move],
    left: tuple[str, ...],
    was: Place | None,
    joined: tuple[str, ...],
    now: Place | None,
) -> None:
    if was is not None:
        for word in left:
            moves[word].gone.append(was)
    if now is not None:
        for word in joined:
            moves[word].come.append(now)


def _shift_groups(groups: dict[str, Places], moves: Mapping[str, _Move]) -> None:
    for word, move in moves.items():
        group = groups.get(word)
        if group is None:
            group = groups[word] = SortedList()
        _shift(group, move)
        if not group:
            del groups[word]


def _shift(places: Places, move: _Move) -> None:
    if len(move.gone) * _FEW > len(places):
        gone = set(move.gone)
        kept = [place for place in places if place not in gone]
        places.clear()
        places.update(kept)
    else:
        for place in move.gone:
            places.remove(place)
    places.update(move.come)

"""Tables: order, groups and counts follow from the rows, however the rows were written and whenever they are read."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from concord_environment.core.tables import Table


@dataclass(frozen=True, slots=True)
class Card:
    """A row with a sort key and index values."""

    place: int
    words: tuple[str, ...]


CARDS = st.builds(Card, st.integers(0, 3), st.lists(st.sampled_from("abc"), unique=True).map(tuple))
WRITES = st.lists(st.tuples(st.sampled_from([f"k{one}" for one in range(12)]), st.none() | CARDS), max_size=60)


def cards() -> Table[Card]:
    return Table(
        "cards",
        Card,
        order=lambda card: (card.place,),
        indexes={"word": lambda card: card.words},
        kind=lambda card: card.place,
    )


@given(writes=WRITES, reads=st.sets(st.integers(0, 59)))
def test_order_groups_and_counts_are_those_of_the_rows(writes: list[tuple[str, Card | None]], reads: set[int]) -> None:
    table, rows = cards(), dict[str, Card]()
    for number, (key, card) in enumerate(writes):
        table.write(key, card)
        rows.pop(key, None)
        if card is not None:
            rows[key] = card
        if number in reads:
            _ = table.window(0, 1)
    ordered = sorted(rows.items(), key=lambda item: (item[1].place, item[0]))
    assert list(table.items()) == ordered
    assert table.index_values("word") == sorted({word for card in rows.values() for word in card.words})
    for word in "abc":
        group = [card for _, card in ordered if word in card.words]
        assert list(table.group("word", word)) == group
        assert table.group_size("word", word) == len(group)
        assert table.group_window("word", word, 1, 3, latest_first=True) == group[::-1][1:3]
    assert {place: count for place, count in table.kinds.items() if count} == {
        place: len([card for card in rows.values() if card.place == place])
        for place in {card.place for card in rows.values()}
    }


@given(writes=WRITES, reads=st.sets(st.integers(0, 59)))
def test_what_a_table_keeps_of_its_rows_is_that_of_the_current_rows(
    writes: list[tuple[str, Card | None]], reads: set[int]
) -> None:
    table = Table("cards", Card, order=lambda card: (card.place,), lookups={"word": lambda card: card.words})
    for number, (key, card) in enumerate(writes):
        table.write(key, card)
        if number in reads:
            for present, row in table.items():
                assert table.json(present) == table.adapter.dump_json(row)
            for word in "abc":
                assert table.derived("word", word, tuple) == tuple(table.found("word", word))


@given(writes=WRITES)
def test_reverting_all_writes_in_reverse_restores_the_table(writes: list[tuple[str, Card | None]]) -> None:
    table = cards()
    table.write("k0", Card(1, ("a",)))
    changes = [table.write(key, card) for key, card in writes]
    _ = list(table.rows())
    for change in reversed(changes):
        table.write(change.key, change.before)
    assert list(table.items()) == [("k0", Card(1, ("a",)))]
    assert table.index_values("word") == ["a"]

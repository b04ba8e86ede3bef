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

"""Offers and needs: the only way to give each stall an item that it takes, with lists known to their stalls alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Neighbours, Part
from concord.suite.value import code, name
from concord_suites.answers import UnreadableError, as_word
from concord_suites.family import Drawn, Setting, TextFamily
from concord_suites.grammar import Fresh, Statement

LISTED_FROM: Final = 4
"""From this difficulty on, half of the items that a stall takes stand on lists."""

OFFER: Final = Statement(
    "offer",
    (
        "Your stall {stall:name} offers item {item:code}.",
        "Item {item:code} can be had from your stall {stall:name}.",
        "At your stall {stall:name}, you give away item {item:code}.",
        "You brought item {item:code} for your stall {stall:name} to hand out.",
    ),
)
TAKES: Final = Statement(
    "takes",
    (
        "Your stall {stall:name} would take item {item:code}.",
        "Item {item:code} would suit your stall {stall:name}.",
        "At your stall {stall:name}, you could use item {item:code}.",
        "You would like item {item:code} for your stall {stall:name}.",
    ),
)
LIST: Final = Statement(
    "list",
    (
        "Your stall {stall:name} would take what list {list:code} names.",
        "The item on list {list:code} would suit your stall {stall:name}.",
        "At your stall {stall:name}, you could use the item that list {list:code} names.",
        "You would like the item of list {list:code} for your stall {stall:name}.",
    ),
)
LISTED: Final = Statement(
    "listed",
    (
        "List {list:code} of stall {stall:name} names {item:code}.",
        "On list {list:code}, stall {stall:name} noted {item:code}.",
        "{item:code} stands on list {list:code} of stall {stall:name}.",
        "The item on list {list:code} of stall {stall:name} is {item:code}.",
    ),
)
PAST: Final = Statement(
    "past item",
    (
        "Last year, item {item:code} was to be had from you.",
        "You looked at item {item:code}, and do not want it.",
        "In spring, you gave item {item:code} away.",
        "Item {item:code} is of no use to you.",
    ),
)
_RULE: Final = (
    "Each stall offers one item and gets one item that it would take. Each item goes to one stall, and there is only "
    "one way to do it."
)
QUESTION: Final = Statement(
    "question",
    (
        f"The stalls of a flea market swap items. {_RULE} Which stall offers the item that your stall gets? Answer "
        "with that stall's name.",
        f"How do the stalls of the flea market swap their items? {_RULE} Answer with the name of the stall from which "
        "yours gets its item.",
        f"Arrange the swap at the flea market. {_RULE} Answer with the name of the stall whose item yours gets.",
    ),
)


class OffersNeeds(TextFamily):
    """Every seat has to find its partner in the only perfect matching of offers and needs."""

    name: ClassVar = "offers-needs"
    group: ClassVar = Group.ALL_TO_ALL
    summary: ClassVar = "each seat's partner in the only matching of what seats offer with what they take"
    openings: ClassVar = (
        "You have a stall at the flea market.",
        "The flea market is about to open.",
        "You and other stallholders swap things before the market.",
    )
    statements: ClassVar = (OFFER, TAKES, LIST, LISTED, PAST, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """In a hidden order, each stall takes an item of its own and some that earlier stalls get.

        So there is one matching, by elimination. Chance is 0: no seat's brief names another stall.
        """
        order = draw.shuffled(list(neighbours))
        givers = draw.shuffled(order)
        gets_from = dict(zip(givers, [*givers[1:], givers[0]], strict=True))
        stalls = {seat: fresh.name() for seat in order}
        offers = {seat: fresh.code() for seat in order}
        sentences = {seat: [OFFER.write(draw, stall=stalls[seat], item=offers[seat])] for seat in neighbours}
        facts = [Fact(f"offer of {stalls[seat]}", (seat,), code(offers[seat]), name(stalls[seat])) for seat in order]
        earlier: list[str] = []
        for seat in order:
            own = offers[gets_from[seat]]
            others = [item for item in earlier if item != offers[seat]]
            taken = [own, *draw.sample(others, min(len(others), 1 + difficulty // 2))]
            for item in taken:
                sentences[seat] += _takes(draw, fresh, difficulty, stall=stalls[seat], item=item)
                facts.append(Fact(f"{stalls[seat]} takes {item}", (seat,), code(item), name(stalls[seat])))
            refused = [item for item in offers.values() if item not in (*taken, offers[seat])]
            for _ in range(difficulty - 1):
                sentences[seat].append(PAST.write(draw, item=draw.choice(refused) if refused else fresh.code()))
            earlier.append(own)
        return Drawn(QUESTION.write(draw), sentences, facts, chance=0.0)

    def parts(self, drawn: Drawn, neighbours: Neighbours) -> Sequence[Part]:
        """A seat's partner follows from its own list, from those of the stalls that get other items on it and so on,
        and from the partner's offer."""
        seat_of, offered, wanted = dict[str, str](), dict[str, str](), dict[str, list[str]]()
        for fact in drawn.facts:
            stall = fact.anchor.text if fact.anchor else ""
            seat_of[stall] = fact.holders[0]
            if fact.id.startswith("offer"):
                offered[fact.value.text] = fact.id
            else:
                wanted.setdefault(stall, []).append(fact.value.text)
        lists, getter = dict[str, dict[str, None]](), dict[str, str]()
        parts = {}
        for stall, item in _matching(wanted):
            getter[item] = stall
            lists[stall] = {f"{stall} takes {each}": None for each in wanted[stall]}
            for each in wanted[stall]:
                lists[stall] |= lists[getter[each]]
            seat = seat_of[stall]
            parts[seat] = Part(seat, seat, (*lists[stall], offered[item]))
        return [parts[seat] for seat in neighbours]

    def solve(self, setting: Setting) -> Answers:
        """Each seat's partner, by elimination, as far as it follows."""
        seat_of = {record["stall"]: seat for seat, record in setting.stated(OFFER.name)}
        offers = {record["item"]: record["stall"] for _, record in setting.stated(OFFER.name)}
        wanted: dict[str, list[str]] = {}
        for statement in (TAKES, LISTED):
            for _, record in setting.stated(statement.name):
                wanted.setdefault(record["stall"], []).append(record["item"])
        found = {seat_of[stall]: offers[item] for stall, item in _matching(wanted) if item in offers}
        return {seat: found[seat] for seat in setting.neighbours if seat in found}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat that names its partner and no other stall, else 0."""
        right = {seat: str(each) for seat, each in key.items()} if isinstance(key, dict) else {}
        stalls = tuple(right.values())
        parts, unreadable = dict.fromkeys(right, 0.0), list[str]()
        for seat in right:
            if answers.get(seat) is None:
                continue
            try:
                parts[seat] = float(as_word(answers[seat], stalls) == right[seat])
            except UnreadableError:
                unreadable.append(seat)
        return Grade(parts, tuple(unreadable))


def _takes(draw: Draw, fresh: Fresh, difficulty: int, *, stall: str, item: str) -> list[str]:
    if difficulty < LISTED_FROM or draw.chance(0.5):
        return [TAKES.write(draw, stall=stall, item=item)]
    listed = fresh.code()
    return [
        LIST.write(draw, stall=stall, list=listed),
        LISTED.write(draw, stall=stall, list=listed, item=item),
    ]


def _matching(wanted: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Each stall with its item, once only one is left for it."""
    takers: dict[str, list[str]] = {}
    for stall, items in wanted.items():
        for item in items:
            takers.setdefault(item, []).append(stall)
    left = {stall: list(items) for stall, items in wanted.items()}
    ready = [stall for stall, items in left.items() if len(items) == 1]
    for stall in ready:
        if not left[stall]:
            continue  # a wrong list: another stall takes its only item
        [item] = left[stall]
        yield stall, item
        for other in takers[item]:
            if other != stall and item in left[other]:
                left[other].remove(item)
                if len(left[other]) == 1:
                    ready.append(other)

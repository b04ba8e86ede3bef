"""Offers and needs: the only way to give each stall an item that it takes, with lists known to their stalls alone."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Kind, Neighbours, Part, SuiteTask, Value
from concord.suite.value import name, number, word
from concord_suites.answers import as_word
from concord_suites.family import Drawn, ReferableStatement, Setting, TextFamily, grade_each, grammar_of
from concord_suites.grammar import Fresh, Statement

OFFER: Final = Statement(
    "offer",
    "Your stall {stall:name} offers item {item:number}.",
    "Item {item:number} can be had from your stall {stall:name}.",
    "At your stall {stall:name}, you give away item {item:number}.",
    "You brought item {item:number} for your stall {stall:name} to hand out.",
)
TAKES: Final = ReferableStatement(
    Statement(
        "takes",
        "Your stall {stall:name} would take an item like {item:number}.",
        "An item like {item:number} would suit your stall {stall:name}.",
        "At your stall {stall:name}, you could use an item like {item:number}.",
        "You would like an item such as {item:number} for your stall {stall:name}.",
    ),
    Statement(
        "list",
        "Your stall {stall:name} would take an item like that on list {list:code}.",
        "An item like that on list {list:code} would suit your stall {stall:name}.",
        "At your stall {stall:name}, you could use an item like that on list {list:code}.",
        "You would like an item such as that on list {list:code} for your stall {stall:name}.",
    ),
    Statement(
        "listed",
        "List {list:code} of stall {stall:name} names {item:number}.",
        "On list {list:code}, stall {stall:name} noted {item:number}.",
        "{item:number} stands on list {list:code} of stall {stall:name}.",
        "The item on list {list:code} of stall {stall:name} is {item:number}.",
    ),
)
PAST: Final = Statement(
    "past item",
    "Last year, you gave item {item:number} away.",
    "Your sister bought an item like {item:number} last year.",
    "Your grandmother once had item {item:number}.",
    "Item {item:number} broke, and nobody gets it.",
)
_RULE: Final = (
    "Items are alike if the first three digits of their numbers are the same. Each stall offers one item and gets one "
    "that is like an item that it would take. Each item goes to one stall, and there is only one way to do it."
)
QUESTION: Final = Statement(
    "question",
    f"The stalls of a flea market swap items. {_RULE} Which stall offers the item that your stall gets? Answer "
    "with that stall's name.",
    f"How do the stalls of the flea market swap their items? {_RULE} Answer with the name of the stall from which "
    "yours gets its item.",
    f"Arrange the swap at the flea market. {_RULE} Answer with the name of the stall whose item yours gets.",
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
    statements: ClassVar = (OFFER, *grammar_of(TAKES), PAST, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """In a hidden order, each stall takes an item of its own and some that earlier stalls get.

        So there is one matching, by elimination. Chance is 0: no seat's brief names another stall.
        """
        order = draw.shuffled(list(neighbours))
        givers = draw.shuffled(order)
        gets_from = dict(zip(givers, [*givers[1:], givers[0]], strict=True))
        stalls = {seat: fresh.name() for seat in order}
        kinds = {seat: fresh.number(100, 999) for seat in order}
        offers = {seat: _of_kind(fresh, kinds[seat]) for seat in order}
        sentences = {seat: [OFFER.write(draw, stall=stalls[seat], item=offers[seat])] for seat in neighbours}
        facts = [Fact(f"offer of {stalls[seat]}", (seat,), number(offers[seat]), name(stalls[seat])) for seat in order]
        earlier: list[int] = []
        for seat in order:
            own = kinds[gets_from[seat]]
            others = [kind for kind in earlier if kind != kinds[seat]]
            for kind in [own, *draw.sample(others, min(len(others), 1 + difficulty // 2))]:
                item = _of_kind(fresh, kind)
                sentences[seat] += TAKES.write(draw, fresh, difficulty, stall=stalls[seat], item=item)
                facts.append(Fact(f"{stalls[seat]} takes {item}", (seat,), number(item), name(stalls[seat])))
            for _ in range(difficulty - 1):
                past = _of_kind(fresh, draw.choice(list(kinds.values())))
                sentences[seat].append(PAST.write(draw, item=past))
            earlier.append(own)
        return Drawn(QUESTION.write(draw), sentences, facts)

    def parts(self, drawn: Drawn, neighbours: Neighbours) -> Sequence[Part]:
        """A seat's partner follows from its own list, from those of the stalls that get other items on it and so on,
        and from the partner's offer."""
        seat_of, offered, wanted = dict[str, str](), dict[int, str](), dict[str, dict[int, str]]()
        for fact in drawn.facts:
            stall, kind = fact.anchor.text if fact.anchor else "", _kind(int(fact.value.text))
            seat_of[stall] = fact.holders[0]
            if fact.id.startswith("offer"):
                offered[kind] = fact.id
            else:
                wanted.setdefault(stall, {})[kind] = fact.id
        lists, getter = dict[str, dict[str, None]](), dict[int, str]()
        parts = {}
        for stall, got in _matching(wanted):
            getter[got] = stall
            lists[stall] = dict.fromkeys(wanted[stall].values())
            for kind in wanted[stall]:
                lists[stall] |= lists[getter[kind]]
            seat = seat_of[stall]
            parts[seat] = Part(seat, seat, (*lists[stall], offered[got]))
        return [parts[seat] for seat in neighbours]

    def solve(self, setting: Setting) -> Answers:
        """Each seat's partner, by elimination, as far as it follows."""
        seat_of = {record["stall"]: seat for seat, record in setting.stated(OFFER.name)}
        offers = {_kind(record.number("item")): record["stall"] for _, record in setting.stated(OFFER.name)}
        wanted: dict[str, list[int]] = {}
        for statement in (TAKES.direct, TAKES.definition):
            for _, record in setting.stated(statement.name):
                wanted.setdefault(record["stall"], []).append(_kind(record.number("item")))
        found = {seat_of[stall]: offers[kind] for stall, kind in _matching(wanted) if kind in offers}
        return {seat: found[seat] for seat in setting.neighbours if seat in found}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat that names its partner and no other stall, else 0."""
        right = {seat: str(each) for seat, each in key.items()} if isinstance(key, dict) else {}
        stalls = tuple(right.values())
        return grade_each(answers, right, lambda answer: as_word(answer, stalls))

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """What makes a stall the partner of another follows from the two names, with no other stall and no item."""
        stalls = {fact.holders[0]: fact.anchor.text for fact in task.facts if fact.anchor}
        named = {stall for stall in stalls.values() if word(stall.casefold()) in stated}
        partners: Mapping[str, JsonValue] = task.key if isinstance(task.key, dict) else {}
        if len(named) != 2 or any(value.kind is Kind.NUMBER for value in stated):
            return frozenset()
        ids = {fact.id for fact in known}
        told = [part for part in task.parts if {stalls[part.seat], partners[part.seat]} == named]
        return frozenset(need for part in told if ids.issuperset(part.needs) for need in part.needs)


def _of_kind(fresh: Fresh, kind: int) -> int:
    """An item of six digits that begins with the three of its kind."""
    return fresh.number(1_000 * kind, 1_000 * kind + 999)


def _kind(item: int) -> int:
    return item // 1_000


def _matching(wanted: Mapping[str, Iterable[int]]) -> Iterator[tuple[str, int]]:
    """Each stall with the kind of its item, once only one is left for it."""
    takers: dict[int, list[str]] = {}
    for stall, kinds in wanted.items():
        for kind in kinds:
            takers.setdefault(kind, []).append(stall)
    left = {stall: set(kinds) for stall, kinds in wanted.items()}
    ready = [stall for stall, kinds in left.items() if len(kinds) == 1]
    for stall in ready:
        if not left[stall]:
            continue  # a wrong list: another stall takes its only item
        [kind] = left[stall]
        yield stall, kind
        for other in takers[kind]:
            if other != stall and kind in left[other]:
                left[other].remove(kind)
                if len(left[other]) == 1:
                    ready.append(other)

"""False values that seats told of facts, and who answers for each of them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations, takewhile
from typing import Final

from concord.assessment.verdict import Cause, CauseKind
from concord.suite import Fact, Kind, SuiteTask, Value
from concord_evaluator.information.flow import ANSWERING, Conveyed, Flow
from concord_evaluator.information.recogniser import Strange, as_found

# Finds the facts of which a wrong value is a slip: another by one character, or by two neighbours in turned order.


class Slips:
    """The values of facts, found by slips of them. Days are too close to each other to be slips."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = defaultdict[Value, set[str]](set)
        self._masked = defaultdict[Value, set[str]](set)
        self._found = dict[Value, frozenset[str]]()
        for fact in facts:
            value = as_found(fact.value)
            self._facts[value].add(fact.id)
            for masked in _masked(value):
                self._masked[masked].add(fact.id)

    def of(self, value: Value) -> frozenset[str]:
        """The ids of the facts whose values a slip turns into this one."""
        if value.kind is Kind.DATE:
            return frozenset()
        if value not in self._found:
            self._found[value] = self._near(value)
        return self._found[value]

    def _near(self, value: Value) -> frozenset[str]:
        near = [self._masked[masked] for masked in _masked(value) if masked in self._masked]
        turned = [self._facts[other] for other in _turned(value) if other in self._facts]
        return frozenset[str]().union(*near, *turned) - self._facts.get(value, set())


def _masked(value: Value) -> Iterator[Value]:
    """The value with each of its characters left open."""
    return (Value(value.kind, f"{value.text[:at]}\0{value.text[at + 1 :]}") for at in range(len(value.text)))


def _turned(value: Value) -> Iterator[Value]:
    """The value with each two neighbouring characters in turned order."""
    text = value.text
    return (Value(value.kind, text[:at] + text[at + 1] + text[at] + text[at + 2 :]) for at in range(len(text) - 1))


# False values, and who answers for them.

MAX_FALSE: Final = 300
"""False values of a seat that are looked at, the first ones."""

MAX_ADDED: Final = 12
"""Numbers of which every sum is worked out, where a sentence speaks of a result."""

MAX_PAIRED: Final = 100
"""Numbers of which sums and differences of two are worked out, the first ones."""


_UNIQUE: Final = frozenset({Kind.NUMBER, Kind.CODE, Kind.DATE})


@dataclass(frozen=True, slots=True)
class Falsehood:
    """A value that a message states, and that no fact has."""

    value: Value
    about: frozenset[str]
    """The facts of which it may be a value."""
    is_certain: bool
    """Whether the message says so: by an anchor, by the fact's name, or as a slip of the right value."""
    said: Conveyed
    is_corrected: bool
    """Whether the message states the right value after it."""


@dataclass(frozen=True)
class Falsehoods:
    """The false values of one trial."""

    task: SuiteTask
    flow: Flow
    _told: defaultdict[tuple[str, Value], list[Falsehood]] = field(
        default_factory=lambda: defaultdict[tuple[str, Value], list[Falsehood]](list)
    )
    """The false values that were told to each seat, in the order of the messages."""
    _numbers: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)
    """By seat and time, the numbers of the facts that it knew."""

    def told_in(self, message: Conveyed) -> Sequence[Falsehood]:
        """The false values of a message."""
        return self._by_step.get((message.message.step_id, message.message.sender, message.message.receiver), ())

    def origin(self, found: Falsehood) -> Falsehood:
        """The first statement of a value on its way to this one: a seat that was told it is not its author.

        A seat whose brief states the fact knows better, and answers for what it tells.
        """
        while not found.is_certain or found.about.isdisjoint(self._own(found.said.message.sender)):
            earlier = self._told_before(found)
            if earlier is None:
                break
            found = earlier
        return found

    def blame(self, found: Falsehood, need: str, *, is_lost: bool) -> Cause:
        """How a value came about that a message states of a fact: by a change, by a second value, by the end of a cut
        message, or out of nothing.

        A value that may be of any of several facts is a change only if the fact is lost.
        """
        first = self.origin(found)
        sender = first.said.message.sender
        time = (found if found.said.message.sender == sender else first).said.message.time
        if self._is_cut_off(first, need):
            kind = CauseKind.TRUNCATED
        elif not self.flow.knew(sender, need, time) or not (first.is_certain or is_lost):
            kind = CauseKind.INVENTED
        else:
            kind = CauseKind.CONTRADICTED if self._tellings(sender, {need}) else CauseKind.CHANGED
        return Cause(kind=kind, agents=(sender,), certainty="proven", steps=(first.said.message.step_id,))

    def _is_cut_off(self, found: Falsehood, need: str) -> bool:
        """Whether a value is the beginning of the right one, in a message that was cut off."""
        right = (as_found(fact.value) for fact in self.task.facts if fact.id == need)
        return found.said.message.is_cut and any(each.text.startswith(found.value.text) for each in right)

    def is_taken_back(self, found: Falsehood, later: Conveyed) -> bool:
        """Whether a later message takes a value back: its author tells the right one, or who passed the value on passes
        on what its author has told since. Where nothing says of which fact it is, any fact of the author's brief does.
        """
        author = self.origin(found).said.message
        if later.message.time <= found.said.message.time:
            return False  # they cross
        if later.message.sender not in {author.sender, found.said.message.sender}:
            return False
        about = found.about if found.is_certain else found.about & self._own(author.sender)
        if found.value.kind is Kind.DATE and not found.is_certain:
            return False  # it is one more day
        if not (about <= later.facts if found.is_certain else about & later.facts):
            return False
        tellings = self._tellings(author.sender, about)
        return later.message.sender == author.sender or any(
            author.time < time < later.message.time for time in tellings
        )

    @cached_property
    def _by_step(self) -> Mapping[tuple[str, str, str], Sequence[Falsehood]]:
        found, count = dict[tuple[str, str, str], list[Falsehood]](), Counter[str]()
        read = dict[tuple[str, int, str, frozenset[str]], Sequence[Falsehood]]()
        for each in self.flow.messages:
            message = each.message
            if (not each.strange and not each.stated.contradicted) or count[message.sender] >= MAX_FALSE:
                continue
            turn = message.sender, message.time, message.text, each.facts
            if turn not in read:  # it tells the same to all receivers
                read[turn] = [self._as_told(falsehood) for falsehood in self._in(each)]
            false = [replace(falsehood, said=each) for falsehood in read[turn]]
            count[message.sender] += len(false)
            found[message.step_id, message.sender, message.receiver] = false
            for falsehood in false if message.delivered else ():
                self._told[message.receiver, falsehood.value].append(falsehood)
        return found

    def _as_told(self, found: Falsehood) -> Falsehood:
        """A value that its sender was told of some of the facts is of these."""
        earlier = self._told_before(found)
        if earlier is None:
            return found
        return replace(found, about=found.about & earlier.about, is_certain=found.is_certain or earlier.is_certain)

    def _told_before(self, found: Falsehood) -> Falsehood | None:
        """What first told the value to the sender of a message."""
        sender, time = found.said.message.sender, found.said.message.time
        earlier = takewhile(lambda each: each.said.message.time < time, self._told.get((sender, found.value), ()))
        return next((each for each in earlier if not each.about.isdisjoint(found.about)), None)

    @cached_property
    def _right(self) -> Mapping[tuple[str, str], Sequence[int]]:
        """By seat and fact, when some message of the seat states it rightly."""
        found = defaultdict[tuple[str, str], list[int]](list)
        for each in self.flow.messages:
            for fact in each.facts:
                found[each.message.sender, fact].append(each.message.time)
        return found

    def _tellings(self, seat: str, facts: Collection[str]) -> list[int]:
        return [time for fact in facts for time in self._right.get((seat, fact), ())]

    def _own(self, seat: str) -> frozenset[str]:
        return self._briefs.get(seat, frozenset())

    @cached_property
    def _briefs(self) -> Mapping[str, frozenset[str]]:
        """By seat, the facts that its brief states."""
        return {
            seat: frozenset(fact for fact, arrival in known.items() if arrival.step_id is None)
            for seat, known in self.flow.known.items()
        }

    def _in(self, message: Conveyed) -> Iterator[Falsehood]:
        beside_anchors = {each.value for each in message.stated.contradicted}
        for each in message.stated.contradicted[:MAX_FALSE]:
            if self._is_of_an_answer(each.value, message):
                continue
            found = Falsehood(each.value, each.about, True, message, False)
            about = each.about if self._told_before(found) else self._likely(each, message)
            yield replace(found, about=about, is_corrected=_is_corrected(about, each.at, message))
        for strange in self._readings(message.strange[:MAX_FALSE]):
            if strange.value in beside_anchors or strange.is_bound:
                continue
            is_certain, about = self._about(strange, message)
            if about and (strange.about or not self._is_worked_out(strange.value, message)):
                corrected = is_certain and _is_corrected(about, strange.at, message)
                yield Falsehood(strange.value, about, is_certain, message, corrected)

    def _readings(self, found: Sequence[Strange]) -> Iterator[Strange]:
        """The values, of a text with two readings only the number: "is 48213" is not the code IS-48213."""
        numbers = {each.at for each in found if each.value.kind is Kind.NUMBER and Kind.NUMBER in self._alike}
        return (each for each in found if each.value.kind is Kind.NUMBER or each.at not in numbers)

    def _is_of_an_answer(self, value: Value, message: Conveyed) -> bool:
        """Whether a value is one of another fact, in an answer: the highest bidder, say, and the second price."""
        answers = value in message.stated.concluded or ANSWERING.search(message.message.text)
        return bool(answers) and any(self._knew(message, fact) for fact in self._by_value.get(value, ()))

    def _likely(self, each: Strange, message: Conveyed) -> frozenset[str]:
        """Of several facts with one anchor, those of which the value is a slip; else those that its sender knew, and of
        these, those that its message does not tell."""
        slips = self._slips.of(each.value) & each.about
        known = frozenset(fact for fact in each.about if self._knew(message, fact))
        return slips or known - message.facts or known or each.about

    def _about(self, strange: Strange, message: Conveyed) -> tuple[bool, frozenset[str]]:
        """The facts of which a value may be one, and whether the message says so."""
        alike = self._alike.get(strange.value.kind, frozenset())
        if named := strange.about & alike:
            return True, named
        if strange.value.kind is Kind.NUMBER and strange.value in message.stated.concluded:
            return False, frozenset(fact.id for fact in self.task.facts)
        if slips := self._slips.of(strange.value):
            return True, slips
        return False, alike

    @cached_property
    def _slips(self) -> Slips:
        return Slips(self.task.facts)

    @cached_property
    def _by_value(self) -> Mapping[Value, Sequence[str]]:
        """The facts by values that no two facts share."""
        found = defaultdict[Value, list[str]](list)
        for fact in self.task.facts:
            if fact.value.kind in _UNIQUE:
                found[fact.value].append(fact.id)
        return found

    @cached_property
    def _alike(self) -> Mapping[Kind, frozenset[str]]:
        """The facts by the kind of their values."""
        found = defaultdict[Kind, set[str]](set)
        for fact in self.task.facts:
            found[as_found(fact.value).kind].add(fact.id)
        return {kind: frozenset(facts) for kind, facts in found.items()}

    def _knew(self, message: Conveyed, fact: str) -> bool:
        sender = message.message.sender
        return sender in self.flow.known and self.flow.knew(sender, fact, message.message.time)

    def _is_worked_out(self, value: Value, message: Conveyed) -> bool:
        """Whether a number is a sum or a difference of numbers of facts that its sender knew."""
        if value.kind is not Kind.NUMBER:
            return False
        known, number = self._known_numbers(message), int(value.text)
        if number in _of_two(known) or number == sum(known):
            return True
        return value in message.stated.concluded and len(known) <= MAX_ADDED and number in _sums(known)

    def _known_numbers(self, message: Conveyed) -> tuple[int, ...]:
        """The numbers of facts that the sender of a message knew."""
        turn = message.message.sender, message.message.time
        if turn not in self._numbers:
            self._numbers[turn] = tuple(
                int(fact.value.text)
                for fact in self.task.facts
                if fact.value.kind is Kind.NUMBER and self._knew(message, fact.id)
            )
        return self._numbers[turn]


def _is_corrected(about: Collection[str], at: int, message: Conveyed) -> bool:
    """Whether a message states the right values of facts after a place in its text."""
    return all(message.stated.last.get(fact, -1) > at for fact in about)


@lru_cache(maxsize=256)
def _of_two(numbers: Sequence[int]) -> frozenset[int]:
    """The sums and differences of two of the numbers."""
    pairs = list(combinations(numbers[:MAX_PAIRED], 2))
    return frozenset([a + b for a, b in pairs] + [abs(a - b) for a, b in pairs])


@lru_cache(maxsize=256)
def _sums(numbers: Sequence[int]) -> frozenset[int]:
    """The sums of any of the numbers, of which there are few."""
    return frozenset(sum(some) for size in range(2, len(numbers) + 1) for some in combinations(numbers, size))

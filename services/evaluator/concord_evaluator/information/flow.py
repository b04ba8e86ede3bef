"""Information flow: which seat could know which fact when, by observed messages alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from concord.suite import Fact, Family, SuiteTask
from concord_evaluator.information.recogniser import Recogniser, Stated


@dataclass(frozen=True, slots=True)
class Sent:
    """A message from one seat to another. Messages of the same `time` cross: none answers another.

    `delivered` is false if it reached nobody.
    """

    step_id: str
    time: int
    sender: str
    receiver: str
    text: str
    delivered: bool


@dataclass(frozen=True, slots=True)
class Conveyed:
    """A message, with the facts that it states or stands for."""

    message: Sent
    stated: Stated
    facts: frozenset[str]
    news: frozenset[str]
    """The facts that its receiver did not know before."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """When a seat could first know a fact (0: from its brief), and the step of the message that brought it."""

    time: int
    step_id: str | None


@dataclass(frozen=True, slots=True)
class Flow:
    """The flow of facts in one trial."""

    messages: Sequence[Conveyed]
    known: Mapping[str, Mapping[str, Arrival]]
    """By seat and fact."""

    def knew(self, seat: str, fact: str, time: int) -> bool:
        """Whether a seat could know a fact in its turn at `time`: a message arrives one later than it was sent."""
        arrival = self.known[seat].get(fact)
        return arrival is not None and arrival.time <= time

    def coverage(self, seat: str, needed: Iterable[str], time: int) -> float:
        """The part of the needed facts that a seat could know at `time`; 1 if none is needed."""
        facts = list(needed)
        return sum(self.knew(seat, fact, time) for fact in facts) / len(facts) if facts else 1.0

    @property
    def redundant(self) -> int:
        """The delivered messages that brought their receivers no fact that was new to them."""
        return sum(each.message.delivered and not each.news for each in self.messages)


@dataclass(slots=True)
class _Tracker:
    task: SuiteTask
    family: Family
    facts: Mapping[str, Fact]
    known: dict[str, dict[str, Arrival]] = field(default_factory=dict)

    def conveyed(self, message: Sent, stated: Stated) -> Conveyed:
        """The facts that a message conveys, and which are news to its receiver."""
        own = self.known.get(message.sender, {})
        able = [self.facts[fact] for fact, arrival in own.items() if arrival.time <= message.time]
        conveyed = set(stated.facts)
        for value, stands_for in self.family.partial_results(self.task, able).items():
            if value in stated.values:
                conveyed |= stands_for
        met = self.known.get(message.receiver, {})
        news = {fact for fact in conveyed if fact not in met or met[fact].time > message.time + 1}
        return Conveyed(message, stated, frozenset(conveyed), frozenset(news if message.delivered else ()))


def flow_of(task: SuiteTask, family: Family, messages: Iterable[Sent]) -> Flow:
    """Follows the facts of a task through messages."""
    recogniser = Recogniser(task)
    facts = {fact.id: fact for fact in task.facts}
    tracker = _Tracker(task, family, facts, {seat: {} for seat in task.seats})
    for fact in task.facts:
        for holder in fact.holders:
            tracker.known[holder][fact.id] = Arrival(0, None)
    read: dict[str, Stated] = {}
    done: list[Conveyed] = []
    for message in sorted(messages, key=lambda each: each.time):
        if message.text not in read:
            read[message.text] = recogniser.stated(message.text)
        conveyed = tracker.conveyed(message, read[message.text])
        done.append(conveyed)
        if message.delivered and message.receiver in tracker.known:
            for fact_id in conveyed.facts:
                tracker.known[message.receiver].setdefault(fact_id, Arrival(message.time + 1, message.step_id))
    return Flow(done, tracker.known)

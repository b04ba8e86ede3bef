"""Information flow: which seat could know which fact when, by observed messages alone."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from pydantic import JsonValue

from concord.json_text import NoJsonError, documents_in
from concord.suite import Answers, Fact, Family, Group, SuiteTask, Value
from concord.suite.value_reader import normalised, respelled, values_in
from concord_evaluator.information.recogniser import (
    CONCLUDING,
    Recogniser,
    Stated,
    Strange,
    as_found,
    headed,
    quotable,
    without_quotes,
)
from concord_evaluator.messages import Sent

# Finds the answers to a task's parts in the text of a message.

MAX_SENTENCES: Final = 50
"""Sentences of a message that are read as answers, the last ones."""

ANSWERING: Final = re.compile(r"(?<![^\W_])(?:answers?|solutions?)(?![^\W_])", re.IGNORECASE)
_MARKED: Final = re.compile(rf"{ANSWERING.pattern}[^:=,|\t]*[:=,|\t](.*)", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[^.;!?\n]+(?:[.;!?](?!\s|$)[^.;!?\n]*)*")


def right_parts(task: SuiteTask, family: Family, text: str, receiver: str, answers: Answers) -> frozenset[str]:
    """The ids of the parts to which a sentence of the text, or what follows a mark in it, is the right answer.

    Only a sentence that speaks of an answer is read as one, a cell below such a heading, a member of a JSON object with
    such a key or text, or a sentence that gives a result and states no value of a fact: "agent/1 has 48213" is a fact,
    even where 48213 is the answer.

    Where seats have to agree, an answer is right or wrong together with the other seats' `answers`. A text is then read
    as the answer of its receiver and of the seats that it names.
    """
    right, seats = set[str](), _own_answerers(task, family, text, receiver)
    for candidate in dict.fromkeys(_candidates(task, text[: task.message_limit])):
        common = family.grade(dict.fromkeys(task.answerers, candidate), task.key)
        right |= {part.id for part in task.parts if common.parts.get(part.id) == 1}
        for seat in seats:
            alone = family.grade({**answers, seat: candidate}, task.key)
            right |= {part.id for part in task.parts if part.seat == seat and alone.parts.get(part.id) == 1}
        if len(right) == len(task.parts):
            break
    return frozenset(right)


def _own_answerers(task: SuiteTask, family: Family, text: str, receiver: str) -> list[str]:
    if family.group is not Group.AGREE:
        return []
    return [seat for seat in task.answerers if seat == receiver or re.search(rf"(?<!\w){re.escape(seat)}(?!\w)", text)]


def _candidates(task: SuiteTask, text: str) -> Iterator[str]:
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    sentences += [f"{heading}: {text[slice(*cell)]}" for heading, cell in headed(text) if ANSWERING.search(heading)]
    values = {
        as_found(each) for fact in task.facts for each in (fact.value, fact.anchor, *fact.domain) if each is not None
    }
    for sentence in islice(reversed(sentences), MAX_SENTENCES):
        plain = normalised(sentence)
        if not ANSWERING.search(sentence) and not (
            CONCLUDING.search(sentence) and values.isdisjoint(each.value for each in values_in(plain))
        ):
            continue
        for each in (sentence, respelled(plain)):
            yield each
            yield from (tail.strip(" |\t") for tail in _tails(each))
    yield from islice(_members(text), MAX_SENTENCES)


def _tails(sentence: str) -> Iterator[str]:
    """What follows the last colon of a sentence, and the first mark behind a word for an answer."""
    _, colon, rest = sentence.rpartition(":")
    if colon:
        yield rest
    if marked := _MARKED.search(sentence):
        yield marked[1]


def _members(text: str) -> Iterator[str]:
    """The members of JSON objects in which a key or a text speaks of an answer."""
    if "{" not in text or not ANSWERING.search(text):
        return
    try:
        pending: list[JsonValue] = list(documents_in(text))
    except NoJsonError:
        return
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            texts = [*each, *(member for member in each.values() if isinstance(member, str))]
            if any(map(ANSWERING.search, texts)):
                yield from (member if isinstance(member, str) else json.dumps(member) for member in each.values())
            pending += each.values()
        elif isinstance(each, list):
            pending += each


# The flow of facts.


@dataclass(frozen=True, slots=True)
class Conveyed:
    """A message, with what it states and the facts that it tells."""

    message: Sent
    stated: Stated
    facts: frozenset[str]
    """The facts that it tells: none that its sender could not know."""
    news: frozenset[str]
    """The facts that its receiver did not know before."""
    strange: tuple[Strange, ...]
    """Values that neither the task knows nor its sender could have worked out as a partial result."""


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


@dataclass(frozen=True, slots=True)
class _Told:
    """What a text tells any of its receivers. `able`: the facts that its sender could know."""

    able: frozenset[str]
    facts: frozenset[str]
    results: Mapping[Value, frozenset[str]]
    strange: tuple[Strange, ...]


@dataclass(slots=True)
class _Tracker:
    task: SuiteTask
    family: Family
    known: dict[str, dict[str, Arrival]]
    answers: Answers
    _quotable: Sequence[str] = field(init=False)
    _facts: dict[str, Fact] = field(init=False)
    _ids: Mapping[Value, frozenset[str]] = field(init=False)
    """The facts that a value belongs to."""
    _results: dict[frozenset[str], Mapping[Value, frozenset[str]]] = field(default_factory=dict)
    """The partial results by the ids of the facts that they follow from."""
    _right: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """By text and receiver, the parts to which it gives the right answer."""
    _told: defaultdict[tuple[str, Value], list[tuple[int, frozenset[str]]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By seat and partial result that it was told: from which time on, and for which facts it stood."""
    _time: int = 0
    _told_now: dict[tuple[str, str], _Told] = field(default_factory=dict)
    """By sender and text, what the messages of the present time tell: nothing that is sent then changes it."""

    def __post_init__(self) -> None:
        self._quotable = quotable(self.task)
        self._facts = {fact.id: fact for fact in self.task.facts}
        ids = defaultdict[Value, set[str]](set)
        for fact in self.task.facts:
            for value in (fact.value, fact.anchor, *fact.domain):
                if value is not None:
                    ids[as_found(value)].add(fact.id)
        self._ids = {value: frozenset(facts) for value, facts in ids.items()}

    def follow(self, message: Sent, stated: Stated) -> Conveyed:
        """The facts that a message conveys. Its receiver knows them from then on.

        A message tells a fact only if its sender could know it: by the fact's own value, by a partial result, by values
        from which the fact follows, or by the right answer to a part whose needed facts its sender could all know.
        """
        if message.time != self._time:
            self._time, self._told_now = message.time, {}
        text = message.sender, message.text
        if text not in self._told_now:
            self._told_now[text] = self._tells(message, stated)
        told = self._told_now[text]
        answered = self._answered(message, told.able)
        conveyed = told.facts | answered if answered else told.facts
        arrived = message.delivered and message.receiver in self.known
        met = self.known.get(message.receiver, {})
        news = [fact for fact in conveyed if fact not in met or met[fact].time > message.time + 1] if arrived else ()
        if arrived:
            for fact_id in conveyed:
                met.setdefault(fact_id, Arrival(message.time + 1, message.step_id))
            for value, facts in told.results.items():
                self._told[message.receiver, value].append((message.time + 1, facts))
        return Conveyed(message, stated, conveyed, frozenset(news), told.strange)

    def _tells(self, message: Sent, stated: Stated) -> _Told:
        own = self.known.get(message.sender, {})
        able = frozenset(fact for fact, arrival in own.items() if arrival.time <= message.time)
        results = self._results_of(message, stated, able)
        implied = self._implied(stated, able)
        explained = set(results).union(*implied)
        strange = tuple(each for each in stated.strange if each.value not in explained)
        return _Told(able, (stated.facts & able).union(*results.values(), *implied.values()), results, strange)

    def _answered(self, message: Sent, able: frozenset[str]) -> frozenset[str]:
        """The needed facts of the parts to which a message gives the right answer, if its sender could know them."""
        met = self.known.get(message.receiver, {})
        parts = [part for part in self.task.parts if able.issuperset(part.needs) and not met.keys() >= set(part.needs)]
        if not parts:
            return frozenset()
        read = message.text, message.receiver
        if read not in self._right:
            own_words = without_quotes(message.text, self._quotable)
            self._right[read] = right_parts(self.task, self.family, own_words, message.receiver, self.answers)
        return frozenset().union(*(part.needs for part in parts if part.id in self._right[read]))

    def _implied(self, stated: Stated, able: frozenset[str]) -> Mapping[frozenset[Value], frozenset[str]]:
        """The values of the message, or of one of its sentences, from which facts follow, and these facts."""
        known, groups = [self._facts[fact] for fact in able], {*stated.sentences, frozenset().union(*stated.sentences)}
        found = {values: self.family.implied(self.task, known, values) for values in groups}
        return {values: facts for values, facts in found.items() if facts}

    def _results_of(self, message: Sent, stated: Stated, able: frozenset[str]) -> Mapping[Value, frozenset[str]]:
        """The partial results that a message states, and the facts that they stand for: none that it states beside."""
        possible = [value for value in stated.values if self._may_be_result(value, message, stated)]
        if not possible:
            return {}
        if able not in self._results:
            found = self.family.partial_results(self.task, [self._facts[fact] for fact in able])
            self._results[able] = {as_found(value): facts for value, facts in found.items()}
        results = dict[Value, frozenset[str]]()
        for value in possible:
            told = [facts for time, facts in self._told.get((message.sender, value), ()) if time <= message.time]
            own = self._ids.get(value)
            beside = frozenset[str]() if own is None else self._stated_with(value, stated) - own
            for facts in [self._results[able].get(value, frozenset[str]()), *told]:
                if facts and facts.isdisjoint(beside):
                    results[value] = results.get(value, frozenset()) | facts
        return results

    def _stated_with(self, value: Value, stated: Stated) -> frozenset[str]:
        """The stated facts whose values stand in a sentence with a value; all, if no sentence gives it as a result."""
        if value not in stated.concluded:
            return stated.facts
        beside = {each for sentence in stated.sentences if value in sentence for each in sentence}
        return stated.facts & {fact for each in beside for fact in self._ids.get(each, ())}

    def _may_be_result(self, value: Value, message: Sent, stated: Stated) -> bool:
        """Whether a value can be stated as a result of several facts.

        The value of a fact is one where the message says so, or where it passes this value on and states nothing else.
        """
        own = self._ids.get(value)
        if own is None or value in stated.concluded:
            return True
        is_held = any(message.sender in self._facts[each].holders for each in own)
        return stated.facts <= own and not stated.strange and not is_held


def flow_of(task: SuiteTask, family: Family, messages: Iterable[Sent], answers: Answers | None = None) -> Flow:
    """Follows the facts of a task through messages. `answers`: the last answers of the trial, if there are any."""
    recogniser = Recogniser(task)
    known: dict[str, dict[str, Arrival]] = {seat: {} for seat in task.seats}
    for fact in task.facts:
        for holder in fact.holders:
            known[holder][fact.id] = Arrival(0, None)
    tracker, read = _Tracker(task, family, known, answers or {}), dict[str, Stated]()
    done: list[Conveyed] = []
    for message in sorted(messages, key=lambda each: each.time):
        if message.text not in read:
            read[message.text] = recogniser.stated(message.text)
        done.append(tracker.follow(message, read[message.text]))
    return Flow(done, known)

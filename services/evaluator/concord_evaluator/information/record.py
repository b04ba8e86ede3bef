"""The record of a trial's team task, from the gateway's own steps alone."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice, pairwise
from math import fsum
from typing import Final, TypedDict

from concord.assessment import AssessmentPlan
from concord.assessment.plan import shared_processes
from concord.assessment.results import Finding, TrialOutcome
from concord.assessment.suite_tasks import family_of, instance_of
from concord.assessment.task_spec import Control, Exchange
from concord.assessment.team_results import (
    MAX_FACTS,
    MAX_FAILURES,
    MAX_MESSAGES,
    MAX_NAMED_FACTS,
    FactMessage,
    FlowRecord,
    PartFailure,
    TeamTaskRecord,
    UnexplainedKnowledge,
    UnprovenPart,
)
from concord.month_names import MONTHS
from concord.suite import Fact, Grade, Kind, SuiteTask, Topology, Value, fewest_calls, flooding_calls, flooding_messages
from concord.trace.report import ReportBatch
from concord.trace.vocabulary import is_figure, words_in
from concord.wire.roster import Roster
from concord_evaluator.information.causes import Answered, Cause
from concord_evaluator.information.exchanges import Exchanged, by_calls, by_rounds
from concord_evaluator.information.failures import Failure, failures_of
from concord_evaluator.information.flow import Conveyed, Flow, Sent, flow_of
from concord_evaluator.information.recogniser import as_found
from concord_evaluator.information.values import read

# Receipts: how much of a right answer rests on facts that messages told, and what a seat knew without one.

# Receipts: how much of a right answer rests on facts that the messages of the trial brought to its seat.


@dataclass(frozen=True, slots=True)
class Unproven:
    """Needed facts of a right part that its seat could not know when it answered."""

    part: str
    seat: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Credit:
    """The credited value of each part, from 0 to 1, and what is missing in right parts."""

    parts: Mapping[str, float]
    unproven: tuple[Unproven, ...] = ()

    @property
    def outcome(self) -> float:
        """The mean of the parts, from 0 to 1."""
        return fsum(self.parts.values()) / len(self.parts)


def credit_of(task: SuiteTask, grade: Grade, flow: Flow, answered: Answered) -> Credit:
    """Credits each part of the answers with its value, times the share of its needed facts that its seat could know.

    Facts of the seat's own brief need no receipt; a part that needs no other fact is credited whole.
    """
    parts, unproven = dict[str, float](), list[Unproven]()
    for part in task.parts:
        value = grade.parts.get(part.id, 0.0)
        from_others = [need for need in part.needs if not _held(flow, part.seat, need)]
        time = answered.times.get(part.seat, answered.end)
        missing = tuple(need for need in from_others if not flow.knew(part.seat, need, time))
        parts[part.id] = value * (1 - len(missing) / len(from_others)) if from_others else value
        if value and missing:
            unproven.append(Unproven(part.id, part.seat, missing))
    return Credit(parts, tuple(unproven))


@dataclass(frozen=True, slots=True)
class Gap:
    """Failed parts of answers, and those whose seats answered though they could know all that the part follows from.

    Source: Silo-Bench (arXiv 2603.01045), which finds that agents get what they need, and cannot put it together.
    """

    parts: int = 0
    informed_parts: int = 0
    seats: int = 0
    informed_seats: int = 0


def gap_of(task: SuiteTask, grade: Grade, flow: Flow, answered: Answered) -> Gap:
    """The gap of a trial between what reached its seats and what they made of it."""
    informed: dict[str, list[bool]] = {}
    for part in task.parts:
        if grade.parts.get(part.id, 0.0) < 1:
            time = answered.times.get(part.seat)
            knew = time is not None and all(flow.knew(part.seat, need, time) for need in part.needs)
            informed.setdefault(part.seat, []).append(knew)
    of_seats = informed.values()
    return Gap(sum(map(len, of_seats)), sum(map(sum, of_seats)), len(informed), sum(map(all, of_seats)))


def lost_by_part(whole: Mapping[str, float], kept: Mapping[str, float]) -> dict[str, float]:
    """By part, the share of the outcome that is lost where parts worth `whole` (0 to 1) keep only `kept`."""
    return {part: max(0.0, value - kept.get(part, 0.0)) / len(whole) for part, value in whole.items()}


def information(task: SuiteTask, flow: Flow, answered: Answered) -> float | None:
    """The share of needed facts outside the answering seats' own briefs that reached them before they answered.

    From 0 to 1; None if no seat needs a fact of another.
    """
    reached = list[bool]()
    needs: dict[str, dict[str, None]] = {}
    for part in task.parts:
        needs.setdefault(part.seat, {}).update(dict.fromkeys(part.needs))
    for seat, needed in needs.items():
        time = answered.times.get(seat, answered.end)
        reached += [flow.knew(seat, need, time) for need in needed if not _held(flow, seat, need)]
    return fsum(reached) / len(reached) if reached else None


def economy(simple: int, sent: int) -> float:
    """What a simple team sends, per message that this team sent: from 0 to 1."""
    return min(1.0, simple / sent) if sent else 1.0


def _held(flow: Flow, seat: str, fact: str) -> bool:
    """Whether a seat's brief states a fact."""
    arrival = flow.known[seat].get(fact)
    return arrival is not None and arrival.time == 0


# Knowledge without a receipt: values of facts in a seat's answer that nothing which reached the seat had stated.

_RECOGNISABLE: Final = frozenset({Kind.NUMBER, Kind.CODE, Kind.NAME, Kind.DATE})
_BETWEEN: Final = r"(?:[\W_]|st|nd|rd|th|of|the)*"
_GAPS: Final = {
    (True, True): r"\D{0,12}",
    (True, False): _BETWEEN,
    (False, True): r"[a-z]{0,6}" + _BETWEEN,
    (False, False): r"[\W_]*",
}
"""What may stand between two characters of a value, by whether they are digits: "48 thousand 213", "March the 14th"."""
_CLOSE: Final = timedelta(days=31)
_MOST_NUMERALS: Final = 3
"""A text with so many numbers in words may spell out a value."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """Facts whose values a seat's answer states although no text of the seat can be their source."""

    seat: str
    facts: tuple[str, ...]


def unexplained_in(task: SuiteTask, answers: Mapping[str, str], messages: Iterable[Sent]) -> list[Unexplained]:
    """The facts that seats' answers state without a source. Facts with an anchor are left out: words can be guessed.

    A source is the question, the seat's brief, or any message to the seat. In doubt, a text counts as a source: if it
    holds the value's letters and digits with anything between that may separate them, if it holds numbers in words, or
    if the value is the sum or difference of two numbers that the seat saw. Days among those that it saw can be guessed.
    """
    received: dict[str, list[str]] = {seat: [task.question, task.briefs[seat]] for seat in task.seats}
    for message in messages:
        if message.delivered and message.receiver in received:
            received[message.receiver].append(message.text)
    texts = {text: _Text.of(text) for text in {text for each in received.values() for text in each}}
    found = []
    for seat in task.seats:
        stated = {each.value for each in read(answers.get(seat, ""))[1]}
        seen = _Seen([texts[text] for text in received[seat]])
        facts = tuple(
            fact.id
            for fact in task.facts
            if _is_telling(fact) and seat not in fact.holders and as_found(fact.value) in stated
            if not seen.may_hold(fact.value)
        )
        if facts:
            found.append(Unexplained(seat, facts))
    return found


def _is_telling(fact: Fact) -> bool:
    return fact.anchor is None and fact.value.kind in _RECOGNISABLE


@dataclass(frozen=True, slots=True)
class _Text:
    """What a text may be the source of. It is read once for all its receivers."""

    plain: str
    values: frozenset[Value]
    has_numerals: bool

    @classmethod
    def of(cls, text: str) -> "_Text":
        return cls(
            unicodedata.normalize("NFKC", text).casefold(),
            frozenset(each.value for each in read(text)[1] if each.value.kind is not Kind.WORD),
            _numerals(text) >= _MOST_NUMERALS,
        )


class _Seen:
    """All that a seat has seen."""

    def __init__(self, texts: Sequence[_Text]) -> None:
        self._plain = "\n".join(text.plain for text in texts)
        self._values = frozenset[Value]().union(*(text.values for text in texts))
        self._numbers = {int(value.text) for value in self._values if value.kind is Kind.NUMBER}
        self._numbers |= {int(digits) for digits in re.findall(r"\d{1,15}", self._plain)}
        self._has_numerals = any(text.has_numerals for text in texts)

    def may_hold(self, value: Value) -> bool:
        """Whether the value may have been stated, however it was spelled, or can have been worked out."""
        if as_found(value) in self._values or any(_in_order(form, self._plain) for form in _forms(value)):
            return True
        match value.kind:
            case Kind.NUMBER:
                return self._has_numerals or self._adds_up(int(value.text))
            case Kind.DATE:
                return self._has_numerals or self._is_among_days(date.fromisoformat(value.text))
            case _:
                return False

    def _is_among_days(self, day: date) -> bool:
        """Whether the day can be guessed: the seat saw days before and after it, or one close to it."""
        days = sorted(date.fromisoformat(each.text) for each in self._values if each.kind is Kind.DATE)
        return bool(days) and days[0] - _CLOSE <= day <= days[-1] + _CLOSE

    def _adds_up(self, number: int) -> bool:
        return any(number - each in self._numbers or number + each in self._numbers for each in self._numbers if each)


def _numerals(text: str) -> int:
    """How many numbers a text holds in words."""
    return sum(word.replace("-", "").isalpha() and is_figure(word) for word in words_in(text))


def _forms(value: Value) -> Iterator[str]:
    """The letters and digits of a value, in the orders in which they may be written."""
    if value.kind is not Kind.DATE:
        yield re.sub(r"[\W_]", "", value.text.casefold())
        return
    day = date.fromisoformat(value.text)
    month, number = MONTHS[day.month - 1][:3].casefold(), str(day.day)
    yield from (number + month, month + number, f"{number}{day.month}", f"{day.month}{number}")
    yield from (f"{number}{day.month:02}", f"{day.month:02}{day.day:02}", f"{day.day:02}{day.month:02}")


def _in_order(form: str, text: str) -> bool:
    """Whether the characters of a form follow one another in a text; digits may have some text between them."""
    gaps = [_GAPS[a.isdigit(), b.isdigit()] for a, b in pairwise(form)]
    return (
        re.search("".join(f"{re.escape(a)}{gap}" for a, gap in zip(form, [*gaps, ""], strict=True)), text) is not None
    )


# What a trial's record lists of its failures and of its flow of facts, within limits and with counts of the rest.


def listed_failures(failures: Sequence[Failure], lost: Mapping[str, float]) -> list[PartFailure]:
    """At most `MAX_FAILURES` failures in their order, among them one of each cause and seat.

    `lost`: by part, the share of the outcome that it is short of. Causes of one part share it equally.
    """
    causes = Counter(each.part for each in failures)
    return [
        PartFailure(
            part=each.part,
            cause=each.cause.value,
            seats=list(each.seats),
            step_id=each.step_id,
            facts=list(each.facts[:MAX_NAMED_FACTS]),
            facts_omitted=max(0, len(each.facts) - MAX_NAMED_FACTS),
            lost=lost.get(each.part, 0.0) / causes[each.part],
        )
        for each in _some_of_each_kind(failures)
    ]


def listed_unproven(found: Sequence[Unproven], lost: Mapping[str, float]) -> list[UnprovenPart]:
    """At most `MAX_FAILURES` unproven parts, each with at most `MAX_NAMED_FACTS` of its facts.

    `lost`: by part, the share of the outcome that is not credited.
    """
    return [
        UnprovenPart(
            part=each.part,
            seat=each.seat,
            facts=list(each.facts[:MAX_NAMED_FACTS]),
            facts_omitted=max(0, len(each.facts) - MAX_NAMED_FACTS),
            lost=lost.get(each.part, 0.0),
        )
        for each in found[:MAX_FAILURES]
    ]


def listed_unexplained(found: Iterable[Unexplained]) -> list[UnexplainedKnowledge]:
    """The knowledge without a source, with at most `MAX_NAMED_FACTS` facts of each seat."""
    return [
        UnexplainedKnowledge(
            seat=each.seat,
            facts=list(each.facts[:MAX_NAMED_FACTS]),
            facts_omitted=max(0, len(each.facts) - MAX_NAMED_FACTS),
        )
        for each in found
    ]


def flow_record(task: SuiteTask, flow: Flow, answered: Answered, failures: Sequence[Failure]) -> FlowRecord:
    """Which fact went where and when, of the facts that matter most."""
    order = dict.fromkeys(_by_weight(task, failures))
    facts = list(islice(order, MAX_FACTS))
    places = {fact: place for place, fact in enumerate(facts)}
    needs = _needs(task)
    delivered = [each for each in flow.messages if each.message.delivered and each.message.receiver in flow.known]
    messages = list(_messages(delivered, task.seats, places))
    return FlowRecord(
        seats=list(task.seats),
        facts=facts,
        facts_omitted=len(order) - len(facts),
        needs=[[places[fact] for fact in needs.get(seat, ()) if fact in places] for seat in task.seats],
        known_from=[[_time(flow, seat, fact) for fact in facts] for seat in task.seats],
        answered=[answered.times.get(seat) for seat in task.seats],
        end=answered.end,
        sent=_counts(task.seats, delivered),
        redundant=_counts(task.seats, [each for each in delivered if not each.news]),
        messages=messages,
        messages_omitted=len(delivered) - len(messages),
    )


def _some_of_each_kind(failures: Sequence[Failure]) -> Iterator[Failure]:
    seen = set[tuple[Cause, tuple[str, ...]]]()
    first, others = list[int](), list[int]()
    for place, failure in enumerate(failures):
        kind = failure.cause, failure.seats
        (others if kind in seen else first).append(place)
        seen.add(kind)
    return (failures[place] for place in sorted([*first, *others][:MAX_FAILURES]))


def _by_weight(task: SuiteTask, failures: Sequence[Failure]) -> Iterator[str]:
    """All facts: lost ones, then those that an answer follows from, then the others."""
    yield from (fact for failure in failures for fact in failure.facts)
    yield from (need for part in task.parts for need in part.needs)
    yield from (fact.id for fact in task.facts)


def _needs(task: SuiteTask) -> Mapping[str, Sequence[str]]:
    needs = defaultdict[str, dict[str, None]](dict)
    for part in task.parts:
        needs[part.seat].update(dict.fromkeys(part.needs))
    return {seat: list(needed) for seat, needed in needs.items()}


def _time(flow: Flow, seat: str, fact: str) -> int | None:
    arrival = flow.known[seat].get(fact)
    return None if arrival is None else arrival.time


def _counts(seats: Sequence[str], messages: Iterable[Conveyed]) -> list[int]:
    senders = Counter(each.message.sender for each in messages)
    return [senders[seat] for seat in seats]


def _messages(delivered: Sequence[Conveyed], seats: Sequence[str], places: Mapping[str, int]) -> Iterator[FactMessage]:
    number = {seat: place for place, seat in enumerate(seats)}
    listed = sorted(range(len(delivered)), key=lambda place: (not delivered[place].news, place))[:MAX_MESSAGES]
    for each in (delivered[place] for place in sorted(listed)):
        yield FactMessage(
            step_id=each.message.step_id,
            time=each.message.time,
            sender=number[each.message.sender],
            receiver=number[each.message.receiver],
            facts=sorted(places[fact] for fact in each.facts if fact in places),
            news=sorted(places[fact] for fact in each.news if fact in places),
        )


MAX_NAMED: Final = 5
"""Facts that a finding names."""

SEEN_WITHOUT_FACTS: Final = frozenset({Cause.UNREADABLE, Cause.NO_ANSWER, Cause.AGENT_FAILED})
"""The causes that follow from replies alone."""


def team_task_record(
    plan: AssessmentPlan, outcome: TrialOutcome, batches: Sequence[ReportBatch]
) -> TeamTaskRecord | None:
    """The record of a trial of a team task; None for other tasks. `batches`: the trace's batches that count."""
    trial = plan.trial(outcome.trial_id)
    spec = plan.task(trial.task_id).family
    if spec is None:
        return None
    task, family = instance_of(plan, trial), family_of(spec.name)
    seats = plan.agents(trial.task_id)
    exchanged = _exchanged(task, outcome, batches, Roster(seats))
    answers = {each.agent: each.text for each in outcome.answers if each.text is not None}
    flow = flow_of(task, family, exchanged.messages, answers)
    alone = spec.control is Control.SOLO  # who knows all briefs needs no message
    failures = [] if alone else failures_of(task, family, answers, flow, exchanged.answered, exchanged.turns)
    grade = family.grade(answers, task.key)
    credit = Credit(grade.parts) if spec.control else credit_of(task, grade, flow, exchanged.answered)
    gap = Gap() if spec.control else gap_of(task, grade, flow, exchanged.answered)
    values = {part.id: grade.parts.get(part.id, 0.0) for part in task.parts}
    is_whole = exchanged.is_complete and not exchanged.cut
    unexplained = unexplained_in(task, answers, exchanged.messages) if is_whole and not alone else []
    if not task.facts:  # its texts are prose: whether a message told what an answer follows from, no rule can see
        failures = [each for each in failures if each.cause in SEEN_WITHOUT_FACTS]
    in_calls = spec.exchange is Exchange.CALLS
    passed = not spec.control and credit.outcome >= plan.config.thresholds.pass_mark
    return TeamTaskRecord(
        family=spec.name,
        difficulty=spec.difficulty,
        topology=spec.topology.value if isinstance(spec.topology, Topology) else "edges",
        exchange="calls" if in_calls else "rounds",
        seats=[seat.id for seat in seats],
        shared_process=shared_processes(seats),
        control=None if spec.control is None else "solo" if alone else "silent",
        paired_with=spec.paired_with,
        chance=task.chance,
        rounds=None if outcome.rounds is None else outcome.rounds.rounds,
        messages=exchanged.count,
        redundant=exchanged.redundant(flow),
        credited=credit.outcome if task.facts else None,
        information=None if spec.control else information(task, flow, exchanged.answered),
        unproven=listed_unproven(credit.unproven, lost_by_part(values, credit.parts)),
        unproven_omitted=max(0, len(credit.unproven) - MAX_FAILURES),
        turns=_turns(outcome, exchanged, 1 if alone else len(seats)),
        failed_parts=gap.parts,
        failed_informed=gap.informed_parts,
        failed_seats=gap.seats,
        informed_seats=gap.informed_seats,
        cut_messages=exchanged.cut,
        **_yardsticks(task, exchanged, in_calls=in_calls, passed=passed),
        coverage=[_coverage(task, flow, time) for time in exchanged.times],
        failures=listed_failures(failures, lost_by_part(dict.fromkeys(values, 1.0), values)),
        failures_omitted=max(0, len(failures) - MAX_FAILURES),
        unexplained=listed_unexplained(unexplained),
        flow=flow_record(task, flow, exchanged.answered, failures) if spec.control is None and task.facts else None,
    )


def _turns(outcome: TrialOutcome, exchanged: Exchanged, seats: int) -> int:
    """The turns of a trial. By calls, each seat replies to its brief and to the question, and to each call."""
    return len(outcome.rounds.turns) if outcome.rounds else 2 * seats + exchanged.count


def _exchanged(task: SuiteTask, outcome: TrialOutcome, batches: Sequence[ReportBatch], roster: Roster) -> Exchanged:
    if outcome.rounds:
        return by_rounds(batches, roster, outcome.rounds)
    return by_calls(batches, roster, outcome.replies, task.message_limit)


class _Yardsticks(TypedDict):
    """What the messages of a team are compared with."""

    fewest_messages: int
    fewest_is_exact: bool
    simple_messages: int
    economy: float | None


def _yardsticks(task: SuiteTask, exchanged: Exchanged, *, in_calls: bool, passed: bool) -> _Yardsticks:
    fewest = fewest_calls(task) if in_calls else task.fewest_messages
    simple = flooding_calls(task) if in_calls else flooding_messages(task)
    return _Yardsticks(
        fewest_messages=fewest.value,
        fewest_is_exact=fewest.exact,
        simple_messages=simple,
        economy=economy(simple, exchanged.sent) if passed and task.facts else None,
    )


def unexplained_findings(record: TeamTaskRecord | None) -> list[Finding]:
    """A finding for each seat whose answer states a fact that no message had brought. Its part earns nothing by it."""
    return [
        Finding(
            id="unexplained_knowledge",
            agents=[each.seat],
            metric_id=None,
            value=float(len(each.facts) + each.facts_omitted),
            threshold=None,
            step_ids=[],
            advice=f"{each.seat} answered with {', '.join(each.facts[:MAX_NAMED])}, which no message and no brief told "
            "it. An answer counts only as far as messages brought its facts.",
            measured="facts without a source",
        )
        for each in ([] if record is None else record.unexplained)
    ]


def _coverage(task: SuiteTask, flow: Flow, time: int) -> float:
    """The mean over the answering seats of the part of their needed facts that they could know after a time."""
    needs: dict[str, set[str]] = {}
    for part in task.parts:
        needs.setdefault(part.seat, set()).update(part.needs)
    return fsum(flow.coverage(seat, needed, time + 1) for seat, needed in needs.items()) / len(needs) if needs else 1.0

"""Scripted teams: one that plays as well as one can, with habits that spoil it, and teams that only pretend."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Literal

from pydantic import JsonValue

from concord.assessment.results import TurnRecord
from concord.suite import Draw, Fact, SuiteTask, Value
from concord_gateway.rounds.exchange import Rounds
from concord_gateway.rounds.reply import Reply, read_reply
from concord_gateway.rounds.texts import turn_text
from concord_suites.family import TextFamily
from tests.kit.players.minds import Mind
from tests.kit.players.phrasings import answer_text, chatter, distort, state, state_partial
from tests.kit.players.plans import Plan, Send
from tests.kit.players.play import reply
from tests.kit.players.silent import Guess
from tests.kit.players.writings import WRITINGS, Writing

PARTIAL_RESULTS: Final = 0.3
"""How often a seat states a partial result instead of the facts that it stands for."""

Results = Mapping[Value, frozenset[str]]
"""Partial results, and the ids of the facts that each stands for."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What a seat tells another in a round: facts, right or wrong, and partial results."""

    round: int
    sender: str
    receiver: str
    facts: tuple[Fact, ...]
    results: Results = field(default_factory=dict)

    def only(self, facts: Iterable[Fact]) -> "Telling":
        """The telling with these facts instead."""
        return replace(self, facts=tuple(facts))


class Habits:
    """What the seats of a team do. These do everything right."""

    believes_the_last: bool = False
    """Whether a seat forgets a fact when it is told another value of it."""
    told_plainly: frozenset[str] = frozenset()
    """Ids of facts for which no partial result stands."""

    def reads(self, seat: str, facts: Sequence[Fact]) -> Iterable[Fact]:
        """What a seat takes in of the facts of its own brief."""
        del seat
        return facts

    def tells(self, telling: Telling) -> Iterable[Telling]:
        """What a seat tells instead, now or in a later round."""
        return (telling,)

    def hears(self, telling: Telling) -> Telling:
        """What the receiver of a telling takes in of it."""
        return telling

    def adds(self, number: int) -> Iterable[Telling]:
        """What seats tell in a round beside the plan."""
        del number
        return ()

    def writes(self, telling: Telling, text: str) -> str:
        """What a seat writes, where this text would state the telling."""
        del telling
        return text

    def talks(self, seat: str) -> bool:
        """Whether a seat also tells all that it knows to all its neighbours in every round."""
        del seat
        return False

    def answer_in(self, seat: str, planned: int) -> int | None:
        """The round in which a seat answers; None for never."""
        del seat
        return planned

    def answer(self, seat: str, answer: JsonValue) -> JsonValue:
        """What a seat answers instead."""
        del seat
        return answer

    def turn(self, seat: str) -> Literal["replied", "unreadable", "late", "failed"]:
        """How a seat's turns end."""
        del seat
        return "replied"


@dataclass
class ScriptedTeam:
    """A team that follows a plan, in the words of the phrasings."""

    mind: Mind
    plan: Plan
    draw: Draw
    habits: Habits = field(default_factory=Habits)
    partial_results: float = PARTIAL_RESULTS
    writing: Writing | None = None
    """How the team writes; None for any phrasing."""
    _believed: dict[str, dict[Fact, None]] = field(init=False)
    """The facts of each seat, right or wrong, in the order in which it learned them."""
    _results: dict[str, dict[Value, frozenset[str]]] = field(init=False)
    """The partial results that each seat was told."""
    _from_results: dict[str, set[str]] = field(init=False)
    """The facts that each seat knows by partial results only."""
    _shared: dict[tuple[str, str], set[Fact]] = field(default_factory=dict)
    """The facts that one seat told another."""
    _later: list[Telling] = field(default_factory=list)
    _on_the_way: list[tuple[Telling, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        seats, facts = self.mind.task.seats, self.mind.task.facts
        own = {seat: [fact for fact in facts if seat in fact.holders] for seat in seats}
        self._believed = {seat: dict.fromkeys(self.habits.reads(seat, own[seat])) for seat in seats}
        self._results = {seat: {} for seat in seats}
        self._from_results = {seat: set() for seat in seats}

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """The reply of each seat in the current round."""
        self._learn(rounds)
        planned = [
            self._telling(each.round, each.sender, each.receiver, each.needed) for each in self._due(rounds.round)
        ]
        given = [each for telling in planned for each in self.habits.tells(telling)]
        given += [each for each in self._later if each.round == rounds.round]
        self._later += [each for each in given if each.round > rounds.round]
        given += self.habits.adds(rounds.round)
        due = [each for each in given if each.round == rounds.round and (each.facts or each.results)]
        written = [(each, self.habits.writes(each, self._text(each))) for each in due]
        written += self._talk(rounds.round)
        messages: dict[str, list[tuple[str, str]]] = {seat: [] for seat in self.mind.task.seats}
        for telling, text in written:
            messages[telling.sender].append((telling.receiver, text))
        self._on_the_way += written
        return {seat: self._reply(rounds, seat, messages[seat]) for seat in self.mind.task.seats}

    def _due(self, number: int) -> Sequence[Send]:
        """What the plan foresees for a round, from seats that reply as asked."""
        return [each for each in self.plan.sends if each.round == number and self.habits.turn(each.sender) == "replied"]

    def _talk(self, number: int) -> Iterable[tuple[Telling, str]]:
        """What talkers say in a round, beside the plan: the same to all neighbours."""
        for seat, neighbours in self.mind.task.neighbours.items():
            if facts := tuple(self._believed[seat]) if self.habits.talks(seat) else ():
                tellings = [Telling(number, seat, other, facts) for other in neighbours]
                text = self._text(tellings[0])
                yield from ((telling, text) for telling in tellings)

    def _learn(self, rounds: Rounds) -> None:
        arrived = {
            (each.sender, each.receiver, each.text)
            for each in rounds.messages
            if each.round == rounds.round - 1 and each.error is None
        }
        for telling, text in self._on_the_way:
            if (telling.sender, telling.receiver, text) in arrived:
                self._believe(self.habits.hears(telling))
        self._on_the_way = []

    def _believe(self, telling: Telling) -> None:
        believed, by_result = self._believed[telling.receiver], self._from_results[telling.receiver]
        news = {fact: None for fact in telling.facts if fact.holders != (telling.receiver,)}
        if self.habits.believes_the_last:
            told = {fact.id for fact in news}
            for outdated in [fact for fact in believed if fact.id in told and fact not in news]:
                del believed[outdated]
        believed |= news
        by_result -= {fact.id for fact in telling.facts}
        for value, ids in telling.results.items():
            self._results[telling.receiver][value] = self._results[telling.receiver].get(value, frozenset()) | ids
            new = ids - {fact.id for fact in believed}
            by_result |= new
            believed |= {fact: None for fact in self.mind.task.facts if fact.id in new}

    def _telling(self, number: int, sender: str, receiver: str, needed: frozenset[str]) -> Telling:
        """What a seat can tell another: all that may be needed, and that neither told the other yet."""
        believed, by_result = self._believed[sender], self._from_results[sender]
        shared = self._shared.setdefault((sender, receiver), set())
        known = shared | self._shared.get((receiver, sender), set())
        news = [fact for fact in believed if fact.id in needed and fact not in known]
        ids = frozenset(fact.id for fact in news)
        results = {value: covered for value, covered in self._results[sender].items() if covered & ids & by_result}
        if not by_result and self.draw.chance(self.partial_results):
            results |= self._worked_out(believed, ids)
        shared.update(news)
        covered = by_result.union(*results.values())
        return Telling(number, sender, receiver, tuple(fact for fact in news if fact.id not in covered), results)

    def _worked_out(self, believed: Collection[Fact], ids: frozenset[str]) -> Results:
        """The partial result that stands for the most facts to tell, if it stands for several."""
        if not set(self.mind.task.facts).issuperset(believed):
            return {}
        found = self.mind.family.partial_results(self.mind.task, list(believed))
        able = {value: stands for value, stands in found.items() if stands.isdisjoint(self.habits.told_plainly)}
        best = max(able, key=lambda value: (len(able[value] & ids), value), default=None)
        return {best: able[best]} if best is not None and len(able[best] & ids) > 1 else {}

    def written(self, facts: Sequence[Fact]) -> str:
        """What a seat says, in the team's writing."""
        return (self.writing or WRITINGS["prose"])(self.mind.task, facts)

    def _text(self, telling: Telling) -> str:
        task, sender = self.mind.task, telling.sender
        if self.writing is not None:
            return self.written([*telling.facts, *(Fact("result so far", (), value) for value in telling.results)])
        facts = {fact.id: fact for fact in task.facts}
        texts = [state(self.draw, task, telling.facts, sender=sender)] if telling.facts else []
        for value, ids in telling.results.items():
            stands_for = [facts[each] for each in sorted(ids)]
            texts.append(state_partial(self.draw, task, value, stands_for, sender=sender))
        return "\n".join(texts)

    def _reply(self, rounds: Rounds, seat: str, messages: Sequence[tuple[str, str]]) -> Reply | TurnRecord:
        state_of_turn = self.habits.turn(seat)
        if state_of_turn == "unreadable":
            own = [fact for fact in self.mind.task.facts if seat in fact.holders]
            text = chatter(self.draw, self.mind.task, sender=seat)
            return read_reply(
                " ".join([text, *([state(self.draw, self.mind.task, own[:2], sender=seat)] if own else [])])
            )
        if state_of_turn != "replied":
            return TurnRecord(round=rounds.round, seat=seat, state=state_of_turn, error="no reply")
        answer: JsonValue = None
        planned = self.plan.answers.get(seat)
        if planned is not None and self.habits.answer_in(seat, planned) == rounds.round:
            right = self.mind.answer(seat, self._believed[seat], self.draw)
            answer = self.habits.answer(seat, answer_text(self.draw, self.mind.task, seat, right))
        return reply(messages, answer)


class Forgetting(Habits):
    """Each fact is left out of each message with the same probability."""

    how: ClassVar = "forgotten"
    """Habits with different words here spoil different facts of the same task at the same rate."""

    def __init__(self, task: SuiteTask, rate: float, luck: str = "") -> None:
        self.task, self.rate, self.luck = task, rate, luck

    def tells(self, telling: Telling) -> Iterable[Telling]:
        """Without the forgotten facts."""
        yield telling.only(each for each in telling.facts if not self.happens(telling, each))

    def happens(self, telling: Telling, fact: Fact) -> bool:
        """Decides by the fact and the ends of the message, so that a higher rate adds to what a lower one spoils."""
        return self.drawn(f"{self.task.briefs[telling.sender]} {telling.sender} {telling.receiver} {fact.id}")

    def drawn(self, spoiled: str) -> bool:
        """Whether something is spoiled."""
        return Draw(f"{self.luck} {self.how} {spoiled}".encode()).chance(self.rate)


class Withholding(Forgetting):
    """Each fact of an own brief is told nobody with the same probability."""

    how: ClassVar = "withheld"

    def happens(self, telling: Telling, fact: Fact) -> bool:
        """Decides by the fact and its holder alone."""
        text = f"{self.task.briefs[telling.sender]} {telling.sender} {fact.id}"
        return telling.sender in fact.holders and self.drawn(text)


class Distorting(Forgetting):
    """Each fact is changed in each message with the same probability."""

    how: ClassVar = "distorted"

    def tells(self, telling: Telling) -> Iterable[Telling]:
        """With changed facts."""
        yield telling.only(
            distorted(Draw(f"{telling.sender} {telling.receiver} {each.id}".encode()), self.task, each)
            if self.happens(telling, each)
            else each
            for each in telling.facts
        )


def distorted(draw: Draw, task: SuiteTask, fact: Fact) -> Fact:
    """The fact with a wrong value of the same form; the fact itself where the task leaves none."""
    try:
        return distort(draw, task, fact)
    except ValueError:
        return fact


class NullTeam:
    """Says nothing."""

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """Neither messages nor answers."""
        return {seat: reply([]) for seat in rounds.task.seats}


class EchoTeam:
    """Replies with the text of its turn."""

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """The turns' own texts."""
        return {seat: read_reply(turn_text(rounds, seat)) for seat in rounds.task.seats}


@dataclass(frozen=True, slots=True)
class SilentTeam:
    """Sends nothing, and answers by a guess of each seat from its own brief."""

    family: TextFamily
    guess: Guess
    secret: bytes

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """The guesses at once. A seat sees neither key nor facts nor another brief."""
        replies = {}
        for seat in rounds.task.seats:
            own = replace(rounds.task, briefs={seat: rounds.task.briefs[seat]}, key=None, facts=(), parts=())
            answer = self.guess(self.family, own, seat, Draw(self.secret + seat.encode()))
            replies[seat] = reply([], answer)
        return replies


@dataclass
class DumpTeam(ScriptedTeam):
    """Every seat tells all its neighbours all that it knows in every round, and answers in the last."""

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """Everything to everybody."""
        self._learn(rounds)
        messages: dict[str, list[tuple[str, str]]] = {seat: [] for seat in self.mind.task.seats}
        for seat, neighbours in self.mind.task.neighbours.items():
            facts = tuple(self._believed[seat])
            text = self._text(Telling(rounds.round, seat, neighbours[0], facts)) if facts else ""
            for other in neighbours if facts else ():
                messages[seat].append((other, text))
                self._on_the_way.append((Telling(rounds.round, seat, other, facts), text))
        last = rounds.round == rounds.max_rounds
        return {
            seat: reply(messages[seat], self.mind.answer(seat, self._believed[seat], self.draw) if last else None)
            for seat in self.mind.task.seats
        }

"""What the shipped families have in common: briefs of sentences, a key that follows from them, references, bounds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, takewhile
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import (
    MAX_DIFFICULTY,
    Answers,
    Bound,
    Draw,
    Fact,
    Grade,
    Group,
    Kind,
    Neighbours,
    Part,
    SuiteTask,
    Value,
    distances,
)
from concord.suite.value import number
from concord_suites.answers import as_mapping, as_number, read_each
from concord_suites.grammar import Fresh, StatedRecord, Statement, read_all

# The fewest messages and rounds that a task can be solved with.


def fewest_messages(neighbours: Neighbours, facts: Sequence[Fact], parts: Sequence[Part]) -> Bound:
    """The fewest messages after which each part's seat can know what the part follows from.

    All facts to all seats is the gossip problem with one-way messages: 2n - 2 (Harary and Schwenk 1974).
    """
    holders = {fact.id: frozenset(fact.holders) for fact in facts}
    away = [(part.seat, holders[need]) for part in parts for need in part.needs if part.seat not in holders[need]]
    senders = {min(held) for _, held in away if len(held) == 1}
    receivers = {seat for seat, _ in away}
    others = len(neighbours) - 1
    if len(receivers) == 1:
        [answerer] = receivers
        if len(senders) == others:
            return Bound(others, True, "each other seat must send once; along a tree to the answerer, once is enough")
        proof = "each seat that alone holds a needed fact must send once"
        shared = any(len(held) > 1 and not held & senders for _, held in away)
        direct = senders <= set(neighbours[answerer]) and not shared
        return Bound(len(senders), direct, f"{proof}, and all are the answerer's neighbours" if direct else proof)
    wanted = {(seat, holder) for seat, held in away if len(held) == 1 for holder in held}
    if len(wanted) == len(neighbours) * others:
        proof = (
            "n - 1 messages until some seat knows everything, n - 1 until all others do; along a tree that is enough"
        )
        return Bound(2 * others, True, proof)
    return Bound(
        max(len(senders), len(receivers)),
        False,
        "each seat that others depend on must send, and each dependent receive",
    )


def fewest_rounds(neighbours: Neighbours, facts: Sequence[Fact], parts: Sequence[Part]) -> Bound:
    """The fewest rounds in which each part's facts reach its seat, and the answer is given."""
    holders: Mapping[str, Sequence[str]] = {fact.id: fact.holders for fact in facts}
    farthest = 0
    for seat in {part.seat for part in parts}:
        away = distances(neighbours, seat)
        needs = {need for part in parts if part.seat == seat for need in part.needs}
        farthest = max([farthest, *(min(away[holder] for holder in holders[need]) for need in needs)])
    return Bound(farthest + 1, True, "a fact moves one edge a round, and the answer follows in the round after")


# Families whose briefs are made of sentences.

MAX_BRIEF: Final = 4_000
"""Characters of a brief; every brief is shorter."""

ONE_ANSWERS: Final = Statement(
    "one answers",
    "Only {seat:seat} has to answer.",
    "The answer is due from {seat:seat} alone.",
    "{seat:seat} gives the answer; nobody else has to.",
    "We need the answer from {seat:seat} and from no other seat.",
)
ALL_ANSWER: Final = Statement(
    "all answer",
    "Every seat has to answer.",
    "Each of you gives an answer of your own.",
    "We need an answer from every seat.",
    "All seats answer.",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """All that a solver reads: the statements of the question and of each seat's brief, and the topology."""

    question: Sequence[StatedRecord]
    briefs: Mapping[str, Sequence[StatedRecord]]
    neighbours: Neighbours

    def stated(self, statement: str) -> list[tuple[str, StatedRecord]]:
        """Every occurrence of a statement in the briefs, with the seat that it was told to."""
        return [
            (seat, each) for seat, records in self.briefs.items() for each in records if each.statement == statement
        ]

    def asked(self, statement: str) -> StatedRecord:
        """The statement of that name in the question. Raises LookupError if the question does not make it."""
        return self.each_asked(statement)[0]

    def each_asked(self, statement: str) -> list[StatedRecord]:
        """Every occurrence of a statement in the question."""
        return [record for record in self.question if record.statement == statement]

    @property
    def answerers(self) -> tuple[str, ...]:
        """The seats that have to answer."""
        return tuple(record["seat"] for record in self.each_asked(ONE_ANSWERS.name)) or tuple(self.neighbours)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a family draws for one task. `sentences` are each seat's, in any order; `chance` is as in `SuiteTask`."""

    question: str
    """Without who has to answer, which is added."""
    sentences: Mapping[str, Sequence[str]]
    facts: Sequence[Fact]
    chance: float = 0.0
    answerer: str | None = None
    """The only seat that has to answer; None if every seat has to."""


class TextFamily(ABC):
    """A family whose briefs consist of sentences of a grammar. Implements `concord.suite.Family`."""

    name: ClassVar[str]
    group: ClassVar[Group]
    summary: ClassVar[str]
    seats: ClassVar[range] = range(2, 101)
    openings: ClassVar[tuple[str, ...]]
    """Opening sentences, one of which begins each brief. They contain no information for the task."""
    statements: ClassVar[tuple[Statement, ...]]
    """The grammar of question and briefs."""
    result: ClassVar[Kind | None] = None
    """The kind of the values that right answers are, if these stand for all facts once all are known."""

    @abstractmethod
    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Draws a task."""

    @abstractmethod
    def solve(self, setting: Setting) -> Answers:
        """A right answer of each seat that has to give one, by rules, from everything that the seats know together."""

    @abstractmethod
    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """Compares answers with a key."""

    def key(self, setting: Setting) -> JsonValue:
        """What answers are compared with: by default the only right answers, by seat."""
        return dict(self.solve(setting))

    def parts(self, drawn: Drawn, neighbours: Neighbours) -> Sequence[Part]:
        """The parts of the answer: by default each answerer's is one, and follows from all facts."""
        needs = tuple(fact.id for fact in drawn.facts)
        return [Part(seat, seat, needs) for seat in ([drawn.answerer] if drawn.answerer else neighbours)]

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """By default, the right answers stand for all facts once all are known, in families with a `result`."""
        if self.result is None or len(known) < len(task.facts):
            return {}
        ids = frozenset(fact.id for fact in known)
        return {Value(self.result, str(each)): ids for each in self.solve(setting_of(self, task)).values()}

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """By default, no fact follows from others."""
        del task, known, stated
        return frozenset()

    def read(self, text: str) -> list[StatedRecord]:
        """Every statement that a brief or a question makes, in its order."""
        return list(_read(self, text))

    def setting(
        self, question: str, briefs: Mapping[str, str] | None = None, neighbours: Neighbours | None = None
    ) -> Setting:
        """All that a question, and briefs by seat, state."""
        read = {seat: self.read(brief) for seat, brief in (briefs or {}).items()}
        return Setting(self.read(question), read, neighbours or {})

    def generate(self, secret: bytes, neighbours: Neighbours, difficulty: int) -> SuiteTask:
        """The task of a secret, as `concord.suite.Family` says."""
        if len(neighbours) not in self.seats:
            raise ValueError(
                f"{self.name} is for {self.seats.start} to {self.seats.stop - 1} seats, and {len(neighbours)} are given"
            )
        if not 1 <= difficulty <= MAX_DIFFICULTY:
            raise ValueError(f"a difficulty is 1 to {MAX_DIFFICULTY}, and {difficulty} is given")
        draw = Draw(secret)
        drawn = self.draw(draw, Fresh(draw), neighbours, difficulty)
        answerer = drawn.answerer
        due = ALL_ANSWER.write(draw) if answerer is None else ONE_ANSWERS.write(draw, seat=answerer)
        question = f"{drawn.question} {due}"
        briefs = {
            seat: " ".join([draw.choice(self.openings), *draw.shuffled(drawn.sentences[seat])]) for seat in neighbours
        }
        if (longest := max(map(len, briefs.values()))) > MAX_BRIEF:
            raise ValueError(f"{self.name} has a brief of {longest} characters, above {MAX_BRIEF}")
        setting = self.setting(question, briefs, neighbours)
        parts = tuple(self.parts(drawn, neighbours))
        return SuiteTask(
            family=self.name,
            difficulty=difficulty,
            neighbours=neighbours,
            question=question,
            briefs=briefs,
            answerers=setting.answerers,
            key=self.key(setting),
            facts=tuple(drawn.facts),
            parts=parts,
            fewest_messages=fewest_messages(neighbours, drawn.facts, parts),
            fewest_rounds=fewest_rounds(neighbours, drawn.facts, parts),
            chance=drawn.chance,
        )


# A brief is read to generate its task, to solve it, and for each answer that is worked out from the brief.
@lru_cache(maxsize=512)
def _read(family: TextFamily, text: str) -> tuple[StatedRecord, ...]:
    return tuple(read_all((*family.statements, ONE_ANSWERS, ALL_ANSWER), text))


def setting_of(family: TextFamily, task: SuiteTask) -> Setting:
    """All that a task's question and briefs state."""
    return family.setting(task.question, task.briefs, task.neighbours)


def first_results(task: SuiteTask, known: Collection[Fact], reached: Iterable[int]) -> Mapping[Value, frozenset[str]]:
    """What is reached with the first k facts stands for them, as far as these are known. `reached` is by k, from 1."""
    ids = {fact.id for fact in known}
    first = [fact.id for fact in takewhile(lambda fact: fact.id in ids, task.facts)]
    return {number(each): frozenset(first[:at]) for at, each in enumerate(islice(reached, len(first)), 1) if at > 1}


class OneAnswerFamily(TextFamily):
    """A family with one right answer for each answerer."""

    def read_answer(self, answer: JsonValue) -> JsonValue:
        """The answer in the key's form, by default a number. Raises UnreadableError."""
        return as_number(answer)

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat whose answer equals the key's, else 0."""
        return grade_each(answers, key if isinstance(key, dict) else {}, self.read_answer)


def grade_each(answers: Answers, right: Answers, read: Callable[[JsonValue], JsonValue]) -> Grade:
    """1 for each seat whose answer, as `read` returns it, equals the right one, else 0.

    `read` raises UnreadableError for an unreadable answer.
    """
    given, unreadable = read_each(answers, right, read)
    return Grade({seat: float(seat in given and given[seat] == each) for seat, each in right.items()}, unreadable)


# Values that a brief states at once, or by reference to a code that another of its sentences explains.

FIRST_DIFFICULTY: Final = 4
"""From this difficulty on, half of the values are stated by reference."""


@dataclass(frozen=True)
class ReferableStatement:
    """A statement, and two that together mean the same: one refers to a code, of which the other says what it is."""

    direct: Statement
    by_reference: Statement
    definition: Statement

    @cached_property
    def blank(self) -> str:
        """The blank that is filled by reference."""
        [blank] = self.direct.blanks.keys() - self.by_reference.blanks.keys()
        return blank

    @cached_property
    def common(self) -> Sequence[str]:
        """The blanks by which the other two statements belong together."""
        return sorted(self.by_reference.blanks.keys() & self.definition.blanks.keys())

    def write(self, draw: Draw, fresh: Fresh, difficulty: int, **fields: str | int) -> list[str]:
        """The sentences that state the fields: one, or two with a code."""
        if difficulty < FIRST_DIFFICULTY or draw.chance(0.5):
            return [self.direct.write(draw, **fields)]
        codes = {blank: fresh.code() for blank in self.by_reference.blanks.keys() - self.direct.blanks.keys()}
        return self.refer(draw, **fields, **codes)

    def refer(self, draw: Draw, **fields: str | int) -> list[str]:
        """The two sentences that state the fields by reference."""
        return [self.by_reference.write(draw, **fields), self.definition.write(draw, **fields)]

    def stated(self, setting: Setting) -> list[tuple[str, StatedRecord]]:
        """Every occurrence in the briefs with its value, and the seat that it was told to."""
        values = {self._code(record): record[self.blank] for _, record in setting.stated(self.definition.name)}
        return setting.stated(self.direct.name) + [
            (seat, StatedRecord(self.direct.name, {**record.fields, self.blank: values[self._code(record)]}))
            for seat, record in setting.stated(self.by_reference.name)
        ]

    def _code(self, record: StatedRecord) -> tuple[str, ...]:
        return tuple(record[blank] for blank in self.common)

    def numbers(self, setting: Setting) -> dict[str, list[int]]:
        """The numbers that each seat's brief states, sorted."""
        found: dict[str, list[int]] = {seat: [] for seat in setting.briefs}
        for seat, record in self.stated(setting):
            found[seat].append(record.number(self.blank))
        return {seat: sorted(numbers) for seat, numbers in found.items()}


def on_slip(direct: Statement, by_reference: Statement) -> ReferableStatement:
    """A statement, and one of the same meaning that refers to a slip, which states the missing value."""
    [blank] = direct.blanks.keys() - by_reference.blanks.keys()
    value = f"{{{blank}:{direct.blanks[blank]}}}"
    slip = Statement(
        "slip",
        f"Slip {{slip:code}} says {value}.",
        f"On slip {{slip:code}} stands {value}.",
        f"{value} is written on slip {{slip:code}}.",
        f"Slip {{slip:code}} reads {value}.",
    )
    return ReferableStatement(direct, by_reference, slip)


def grammar_of(*statements: ReferableStatement) -> Sequence[Statement]:
    """All statements of these, each once: they share what slips of one kind say."""
    return tuple(dict.fromkeys(each for one in statements for each in (one.direct, one.by_reference, one.definition)))


# Families whose only answerer gives a JSON object from names to numbers, each of which counts for itself.


class ObjectFamily(TextFamily):
    """A family with one part for each name that the question asks about. The key is an object of objects by seat."""

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each name with the right number, else 0. A name with more than one number is unreadable."""
        expected = key if isinstance(key, dict) else {}
        objects, unreadable = read_each(answers, expected, as_mapping)
        grade = Grade({}, unreadable)
        for seat, right in expected.items():
            given = objects.get(seat, {})
            numbers = {name: given.get(name.casefold()) for name in right} if isinstance(right, dict) else {}
            of_names = grade_each(numbers, right if isinstance(right, dict) else {}, as_number)
            grade = Grade({**grade.parts, **of_names.parts}, grade.unreadable + of_names.unreadable)
        return grade

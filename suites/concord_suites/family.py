"""What the shipped families have in common: briefs made of sentences, and a key that follows from reading them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import (
    MAX_DIFFICULTY,
    Answers,
    Draw,
    Fact,
    Grade,
    Group,
    Neighbours,
    Part,
    SuiteTask,
    Value,
)
from concord_suites.answers import read_each
from concord_suites.bounds import fewest_messages, fewest_rounds
from concord_suites.grammar import Fresh, Record, Statement, read_all

MAX_BRIEF: Final = 4_000
"""Characters of a brief; every brief is shorter."""

ONE_ANSWERS: Final = Statement(
    "one answers",
    (
        "Only {seat:seat} has to answer.",
        "The answer is due from {seat:seat} alone.",
        "{seat:seat} gives the answer; nobody else has to.",
        "We need the answer from {seat:seat} and from no other seat.",
    ),
)
ALL_ANSWER: Final = Statement(
    "all answer",
    (
        "Every seat has to answer.",
        "Each of you gives an answer of your own.",
        "We need an answer from every seat.",
        "All seats answer.",
    ),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """All that a solver reads: the statements of the question and of each seat's brief, and the topology."""

    question: Sequence[Record]
    briefs: Mapping[str, Sequence[Record]]
    neighbours: Neighbours

    def stated(self, statement: str) -> list[tuple[str, Record]]:
        """Every occurrence of a statement in the briefs, with the seat that it was told to."""
        return [
            (seat, each) for seat, records in self.briefs.items() for each in records if each.statement == statement
        ]

    def asked(self, statement: str) -> Record:
        """The statement of that name in the question. Raises LookupError if the question does not make it."""
        for record in self.question:
            if record.statement == statement:
                return record
        raise LookupError(f"the question makes no statement {statement!r}")

    @property
    def answerers(self) -> tuple[str, ...]:
        """The seats that have to answer."""
        named = tuple(record["seat"] for record in self.question if record.statement == ONE_ANSWERS.name)
        return named or tuple(self.neighbours)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a family draws for one task. `sentences` are each seat's, in any order; `chance` is as in `SuiteTask`."""

    question: str
    """Without who has to answer, which is added."""
    sentences: Mapping[str, Sequence[str]]
    facts: Sequence[Fact]
    chance: float
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
        """By default, there are no partial results."""
        del task, known
        return {}

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """By default, no fact follows from others."""
        del task, known, stated
        return frozenset()

    def read(self, text: str) -> list[Record]:
        """Every statement that a brief or a question makes, in its order."""
        return list(_read(self, text))

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
        setting = Setting(self.read(question), {seat: self.read(brief) for seat, brief in briefs.items()}, neighbours)
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
def _read(family: TextFamily, text: str) -> tuple[Record, ...]:
    return tuple(read_all((*family.statements, ONE_ANSWERS, ALL_ANSWER), text))


def setting_of(family: TextFamily, task: SuiteTask) -> Setting:
    """All that a task's question and briefs state."""
    return Setting(
        family.read(task.question), {seat: family.read(brief) for seat, brief in task.briefs.items()}, task.neighbours
    )


class OneAnswerFamily(TextFamily):
    """A family with one right answer for each answerer."""

    @abstractmethod
    def read_answer(self, answer: JsonValue) -> JsonValue:
        """The answer in the key's form. Raises UnreadableError."""

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat whose answer equals the key's, else 0."""
        return grade_each(answers, key if isinstance(key, dict) else {}, self.read_answer)


def grade_each(answers: Answers, right: Answers, read: Callable[[JsonValue], JsonValue]) -> Grade:
    """1 for each seat whose answer, as `read` returns it, equals the right one, else 0.

    `read` raises UnreadableError for an unreadable answer.
    """
    given, unreadable = read_each(answers, right, read)
    return Grade({seat: float(seat in given and given[seat] == each) for seat, each in right.items()}, unreadable)

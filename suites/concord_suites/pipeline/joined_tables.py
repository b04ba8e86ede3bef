"""Joined tables: rows of three relations lie at different seats, and the answer goes through all three."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Group, Neighbours, Part, SuiteTask, Value
from concord.suite.value import number
from concord_suites.family import Drawn, ObjectFamily, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

FILE: Final = Statement(
    "file",
    "{reader:name} has ordered file {file:number}.",
    "File {file:number} is for {reader:name}.",
    "The order of {reader:name} is for file {file:number}.",
    "In the reading room, {reader:name} waits for file {file:number}.",
)
BOX: Final = Statement(
    "box",
    "Files that begin with {start:number} are in box {box:number}.",
    "Box {box:number} holds the files that begin with {start:number}.",
    "All files that begin with {start:number} lie in box {box:number}.",
    "The files that begin with {start:number} have been put into box {box:number}.",
)
SEAL: Final = on_slip(
    Statement(
        "seal",
        "Boxes that begin with {start:number} bear the seal {number:number}.",
        "Seal {number:number} is on the boxes that begin with {start:number}.",
        "The seal of all boxes that begin with {start:number} is {number:number}.",
        "You sealed the boxes that begin with {start:number} with {number:number}.",
    ),
    Statement(
        "seal on a slip",
        "Boxes that begin with {start:number} bear the seal that slip {slip:code} names.",
        "The seal of slip {slip:code} is on the boxes that begin with {start:number}.",
        "The seal of all boxes that begin with {start:number} stands on slip {slip:code}.",
        "You sealed the boxes that begin with {start:number} as slip {slip:code} says.",
    ),
)
MOVED: Final = Statement(
    "moved",
    "Until last year, files with {start:number} in front were in box {box:number}.",
    "Box {box:number} was once for files with {start:number} in front.",
    "A draft of the list says box {box:number} for files with {start:number} in front.",
    "An old label puts files with {start:number} in front into box {box:number}.",
)
READER: Final = Statement(
    "reader",
    "One of them is {reader:name}.",
    "We ask for {reader:name}.",
    "Find the seal for {reader:name}.",
    "A reader is {reader:name}.",
)
_RULE: Final = (
    "Each reader has ordered one file. The first three digits of a file's number say which box holds the file, and the "
    "first four digits of a box's number say which seal is on the box."
)
_FORM: Final = "Answer with a JSON object from each reader that we ask for to the number of the seal."
QUESTION: Final = Statement(
    "question",
    f"Which seals have to be broken for some readers of the archive? {_RULE} {_FORM}",
    f"For some readers, find the seal behind which their file lies. {_RULE} {_FORM}",
    f"Behind which seal does the file of each of some readers lie? {_RULE} {_FORM}",
)


class JoinedTables(ObjectFamily):
    """One seat has to follow several readers' orders through three relations."""

    name: ClassVar = "joined-tables"
    group: ClassVar = Group.PIPELINE
    summary: ClassVar = "the numbers that three relations, spread over the seats, give for some names"
    openings: ClassVar = (
        "You work in the archive of a town.",
        "The archive has readers, files, boxes and seals.",
        "You keep a part of the archive's lists.",
    )
    statements: ClassVar = (FILE, BOX, *grammar_of(SEAL), MOVED, READER, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """A third as many readers as seats, at least two, and a row of each relation for each. Other rows are noise.

        Chance is 0: the answerer's brief names none of the seals in question.
        """
        answerer, *others = draw.shuffled(list(neighbours))
        readers = [fresh.name() for _ in range(max(2, (len(neighbours) + 2) // 3))]
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        facts, starts = [], []
        for at, reader in enumerate(readers):
            start, box_start, seal = fresh.number(100, 999), fresh.number(1_000, 9_999), fresh.number()
            file, box = _within(fresh, start), _within(fresh, box_start)
            first, second = (draw.choice([answerer, *others]) for _ in range(2))
            third = others[at % len(others)]
            starts.append(start)
            sentences[first].append(FILE.write(draw, reader=reader, file=file))
            sentences[second].append(BOX.write(draw, start=start, box=box))
            sentences[third] += SEAL.write(draw, fresh, difficulty, number=seal, start=box_start)
            facts += [
                Fact(f"file of {reader}", (first,), number(file)),
                Fact(f"box of {reader}", (second,), number(box)),
                Fact(f"seal of {reader}", (third,), number(seal)),
            ]
        for seat in [seat for seat in neighbours for _ in range(difficulty)]:
            sentences[seat] += _noise(draw, fresh, difficulty, starts)
        question = [QUESTION.write(draw), *(READER.write(draw, reader=reader) for reader in readers)]
        return Drawn(" ".join(question), sentences, facts, answerer=answerer)

    def parts(self, drawn: Drawn, _neighbours: Neighbours) -> Sequence[Part]:
        """A reader's seal follows from three rows."""
        rows = zip(drawn.facts[::3], drawn.facts[1::3], drawn.facts[2::3], strict=True)
        return [
            Part(file.id.removeprefix("file of "), drawn.answerer or "", (file.id, box.id, seal.id))
            for file, box, seal in rows
        ]

    def solve(self, setting: Setting) -> Answers:
        """The seals of the readers in question, as far as the rows are known."""
        files = {record["reader"]: record.number("file") for _, record in setting.stated(FILE.name)}
        boxes = {record.number("start"): record.number("box") for _, record in setting.stated(BOX.name)}
        seals = {record.number("start"): record.number("number") for _, record in SEAL.stated(setting)}
        readers = [record["reader"] for record in setting.each_asked(READER.name)]
        found: dict[str, JsonValue] = {}
        for reader in readers:
            box = boxes.get(files.get(reader, 0) // 100, 0)
            if box // 100 in seals:
                found[reader] = seals[box // 100]
        return dict.fromkeys(setting.answerers, found)

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """A reader's box stands for file and box, and the seal for all that leads to it, as far as it is known."""
        ids = {fact.id for fact in known}
        found = dict[Value, frozenset[str]]()
        for file, box, seal in zip(task.facts[::3], task.facts[1::3], task.facts[2::3], strict=True):
            if {file.id, box.id} <= ids:
                found[box.value] = frozenset({file.id, box.id})
            if {box.id, seal.id} <= ids:
                found[seal.value] = frozenset({file.id, box.id, seal.id} & ids)
        return found


def _noise(draw: Draw, fresh: Fresh, difficulty: int, starts: Sequence[int]) -> list[str]:
    """A row that no reader in question leads to, or an old one."""
    match draw.below(4):
        case 0:
            return [FILE.write(draw, reader=fresh.name(), file=fresh.number())]
        case 1:
            return [BOX.write(draw, start=fresh.number(100, 999), box=fresh.number(100_000, 999_999))]
        case 2:
            return SEAL.write(draw, fresh, difficulty, number=fresh.number(), start=fresh.number(1_000, 9_999))
        case _:
            return [MOVED.write(draw, start=draw.choice(starts), box=fresh.number(100_000, 999_999))]


def _within(fresh: Fresh, start: int) -> int:
    """A number that begins with these digits, and has two more."""
    return fresh.number(100 * start, 100 * start + 99)

"""Majority: the name with the most ballots, of which seats have copies."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from pydantic import BaseModel, JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Kind, Neighbours
from concord.suite.value import code, name
from concord_suites.answers import as_word
from concord_suites.family import FIRST_DIFFICULTY, Drawn, Setting, TextFamily, grade_each
from concord_suites.grammar import Fresh, Statement
from concord_suites.shared_draws import dealt, holders

BALLOT: Final = Statement(
    "ballot",
    "Ballot {ballot:code} is for {candidate:name}.",
    "On ballot {ballot:code} stands {candidate:name}.",
    "You have ballot {ballot:code}, which names {candidate:name}.",
    "{candidate:name} is the name on ballot {ballot:code}.",
)
BOXED: Final = Statement(
    "ballot in a box",
    "Ballot {ballot:code} for {candidate:name} lay in box {box:code}.",
    "In box {box:code} lay ballot {ballot:code}, which names {candidate:name}.",
    "Out of box {box:code} you took ballot {ballot:code} with the name {candidate:name}.",
    "{candidate:name} is the name on ballot {ballot:code} from box {box:code}.",
)
BOX: Final = Statement(
    "box",
    "Box {box:code} was {state:word} when you got it.",
    "You found box {box:code} {state:word}.",
    "When box {box:code} came to you, it was {state:word}.",
    "The lid of box {box:code} was {state:word}.",
)
OLD: Final = Statement(
    "old ballot",
    "Ballot {ballot:code} of an earlier vote was for {candidate:name}.",
    "For the old ferry, ballot {ballot:code} named {candidate:name}.",
    "The trial ballot {ballot:code} has the name {candidate:name}.",
    "Ballot {ballot:code} with {candidate:name} came after the vote.",
)
_RULE: Final = (
    "Seats may have copies of the same ballot: a ballot counts once, by its code. Ballots from a box that was open do "
    "not count, nor do old, trial or late ones."
)
QUESTION: Final = Statement(
    "question",
    f"The island votes on the name of its new ferry. Which name has the most ballots, over all seats? {_RULE} "
    f"Answer with the name.",
    f"Each seat has some ballots of the vote on the new ferry's name. {_RULE} Which name wins? Answer with it.",
    f"Count the ballots of all seats, and answer with the name that wins the vote on the new ferry. {_RULE}",
)
OPEN: Final = "open"
CLOSED: Final = "closed"


class VoteKey(BaseModel):
    """What an answer is compared with."""

    right: dict[str, str]
    candidates: list[str]


class Majority(TextFamily):
    """One seat has to name the winner of a vote whose ballots lie with all seats."""

    name: ClassVar = "majority"
    group: ClassVar = Group.POOL
    summary: ClassVar = "the name with the most ballots, each counted once"
    openings: ClassVar = (
        "You count votes on a small island.",
        "You are a teller of the island's vote.",
        "The island made you a teller.",
    )
    statements: ClassVar = (BALLOT, BOXED, BOX, OLD, QUESTION)
    result: ClassVar = Kind.NAME

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Ballots of which one name has one more than the next, and copies that give the next name more sheets.

        Chance is 0: the names stand nowhere but on ballots, and no sheet of the answerer has the winner's.
        """
        answerer = draw.choice(list(neighbours))
        others = [seat for seat in neighbours if seat != answerer]
        winner, second, third, _ = names = [fresh.name() for _ in range(4)]
        votes = _votes(draw, max(20, (2 + (difficulty + 1) // 2) * len(neighbours)))
        named = {fresh.code(): candidate for candidate, many in zip(names, votes, strict=True) for _ in range(many)}
        losing = draw.shuffled([ballot for ballot, candidate in named.items() if candidate != winner])
        own = losing[: len(named) // len(neighbours) - 1]
        hands = dealt(draw, [ballot for ballot in named if ballot not in own], others) | {answerer: own}
        copies = _copies(draw, hands, named, {winner: 1, second: 3, third: difficulty // 2})
        for ballot in copies:
            able = others if named[ballot] == winner else list(neighbours)
            if able := [seat for seat in able if ballot not in hands[seat]]:
                hands[draw.choice(able)].append(ballot)
        sentences = dict[str, list[str]]()
        for seat, hand in hands.items():
            allowed = names[1:] if seat == answerer else names
            noise = [(fresh.code(), draw.choice(allowed)) for _ in range(difficulty - 1)]
            sentences[seat] = _sentences(draw, fresh, difficulty, [(each, named[each]) for each in hand], noise)
        domain = tuple(name(each) for each in sorted(names))
        return Drawn(
            question=QUESTION.write(draw),
            sentences=sentences,
            facts=[
                Fact(f"ballot {ballot}", seats, name(named[ballot]), anchor=code(ballot), domain=domain)
                for ballot, seats in holders(hands).items()
            ],
            answerer=answerer,
        )

    def solve(self, setting: Setting) -> Answers:
        """The name with the most different ballots that count."""
        return dict.fromkeys(setting.answerers, _winner(_ballots(setting).values()))

    def key(self, setting: Setting) -> JsonValue:
        """The winner, and all names that ballots have."""
        right, candidates = self.solve(setting), sorted(set(_ballots(setting).values()))
        return VoteKey.model_validate({"right": right, "candidates": candidates}).model_dump()

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for an answer that names the winner and no other candidate, else 0."""
        expected = VoteKey.model_validate(key)
        candidates = tuple(expected.candidates)
        return grade_each(answers, expected.right, lambda answer: as_word(answer, candidates))


def _votes(draw: Draw, total: int) -> list[int]:
    """How many ballots each of four names has: the first one more than the second, the others fewer than both."""
    most = draw.between(-(-(total + 5) // 4), (total - 1) // 2)
    left = total - 2 * most + 1
    third = draw.between(max(1, left - most + 2), min(most - 2, left - 1))
    return [most, most - 1, third, left - third]


def _copies(
    draw: Draw, hands: Mapping[str, list[str]], named: Mapping[str, str], wanted: Mapping[str, int]
) -> list[str]:
    """Ballots to copy: so many of each name, and never the only ballot that a seat would hold alone."""
    kept = {min(hand, key=lambda ballot: (wanted.get(named[ballot], 0), ballot)) for hand in hands.values()}
    found = list[str]()
    for candidate, many in wanted.items():
        able = [ballot for ballot in named if named[ballot] == candidate and ballot not in kept]
        found += draw.sample(able, min(many, len(able)))
    return found


def _sentences(
    draw: Draw, fresh: Fresh, difficulty: int, ballots: Sequence[tuple[str, str]], noise: Sequence[tuple[str, str]]
) -> list[str]:
    """A seat's sentences. With boxes, some ballots lie in a closed one, and some noise in an open one."""
    if difficulty < FIRST_DIFFICULTY:
        return [
            *(BALLOT.write(draw, ballot=ballot, candidate=candidate) for ballot, candidate in ballots),
            *(OLD.write(draw, ballot=ballot, candidate=candidate) for ballot, candidate in noise),
        ]
    closed, opened = fresh.code(), fresh.code()
    sentences = [BOX.write(draw, box=closed, state=CLOSED), BOX.write(draw, box=opened, state=OPEN)]
    for cast, statement, box in ((ballots, BALLOT, closed), (noise, OLD, opened)):
        for ballot, candidate in cast:
            if draw.chance(0.5):
                sentences.append(BOXED.write(draw, ballot=ballot, candidate=candidate, box=box))
            else:
                sentences.append(statement.write(draw, ballot=ballot, candidate=candidate))
    return sentences


def _ballots(setting: Setting) -> dict[str, str]:
    """The name on each ballot that counts."""
    opened = {record["box"] for _, record in setting.stated(BOX.name) if record["state"] == OPEN}
    counted = [record for _, record in setting.stated(BALLOT.name)]
    counted += [record for _, record in setting.stated(BOXED.name) if record["box"] not in opened]
    return {record["ballot"]: record["candidate"] for record in counted}


def _winner(names: Iterable[str]) -> str:
    [(winner, _)] = Counter(names).most_common(1)
    return winner

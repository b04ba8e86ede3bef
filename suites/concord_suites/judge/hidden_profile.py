"""Hidden profile: the candidate with the most letters, where the letters that all seats know favour another."""

from collections import Counter
from typing import ClassVar, Final

from concord.suite import Draw, Fact, Group, Neighbours
from concord.suite.value import code, name
from concord_suites.answer_kinds import ChoiceFamily
from concord_suites.family import FIRST_DIFFICULTY, Drawn, Setting
from concord_suites.grammar import Fresh, Statement

CANDIDATES: Final = 5
LETTER: Final = Statement(
    "letter",
    "Letter {letter:code} recommends {candidate:name}.",
    "In letter {letter:code}, {candidate:name} is recommended.",
    "{candidate:name} is the choice of letter {letter:code}.",
    "Letter {letter:code} speaks for {candidate:name}.",
)
BUNDLED: Final = Statement(
    "letter in a bundle",
    "Letter {letter:code} in bundle {bundle:code} recommends {candidate:name}.",
    "In bundle {bundle:code} lies letter {letter:code} for {candidate:name}.",
    "{candidate:name} is the choice of letter {letter:code} from bundle {bundle:code}.",
    "Letter {letter:code}, out of bundle {bundle:code}, speaks for {candidate:name}.",
)
IN_TIME: Final = Statement(
    "bundle in time",
    "Bundle {bundle:code} arrived in time.",
    "Bundle {bundle:code} met the deadline.",
    "The post delivered bundle {bundle:code} in time.",
    "Before the deadline, bundle {bundle:code} was there.",
)
LATE: Final = Statement(
    "late bundle",
    "Bundle {bundle:code} arrived too late.",
    "Bundle {bundle:code} missed the deadline.",
    "The post delivered bundle {bundle:code} too late.",
    "At the deadline, bundle {bundle:code} was still on its way.",
)
WITHDRAWN: Final = Statement(
    "withdrawn letter",
    "Letter {letter:code} for {candidate:name} has been withdrawn.",
    "The writer of letter {letter:code} no longer recommends {candidate:name}.",
    "Withdrawn: letter {letter:code}, which recommended {candidate:name}.",
    "Until it was withdrawn, letter {letter:code} spoke for {candidate:name}.",
)
_RULE: Final = (
    "A letter that several seats know counts once; a letter that was withdrawn or came in a late bundle does not count."
)
QUESTION: Final = Statement(
    "question",
    f"The candidate whom the most letters recommend becomes conductor. Who is it? {_RULE} Answer with the name.",
    f"Which candidate for conductor has the most letters of recommendation? {_RULE} Answer with the name.",
    f"The candidate with the most letters becomes conductor. Find that candidate. {_RULE} Answer with the name.",
)


class HiddenProfile(ChoiceFamily):
    """One seat has to name the best candidate. Each seat's own letters favour another, which is the same for all seats.

    After Stasser and Titus 1985.
    """

    name: ClassVar = "hidden-profile"
    group: ClassVar = Group.JUDGE
    summary: ClassVar = "the best candidate, where the letters that all seats know favour another"
    openings: ClassVar = (
        "Your choir looks for a conductor.",
        "You sing in a choir that needs a new conductor.",
        "You sit on the committee of a choir.",
    )
    statements: ClassVar = (LETTER, BUNDLED, IN_TIME, LATE, WITHDRAWN, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Letters that all seats hold give the favourite a lead, which no seat's further letters alone make up for.

        The best candidate ends one letter ahead of the favourite. Chance is 1/4: a silent answerer can rule out the
        favourite, and its brief holds equally many letters for each of the four other candidates.
        """
        answerer, *others = draw.shuffled(list(neighbours))
        candidates = [fresh.name() for _ in range(CANDIDATES)]
        favourite, best, *rest = candidates
        own = 2 + difficulty // 3
        lead = own + 1
        balanced = 1 if len(others) > 1 else own  # with one other seat, its letters alone must not make up for the lead
        letters = [(tuple(neighbours), each) for each in [*[favourite] * lead, *candidates]]
        letters += [((answerer,), each) for each in [best, *rest] for _ in range(balanced)]
        dealt = draw.shuffled(_unshared(draw, candidates, own * len(others), lead + 1 - balanced))
        letters += [((others[at % len(others)],), each) for at, each in enumerate(dealt)]
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        facts = list[Fact]()
        domain = tuple(name(each) for each in sorted(candidates))
        for holders, candidate in draw.shuffled(letters):
            letter = fresh.code()
            bundle = fresh.code() if _is_bundled(draw, difficulty) else None
            for seat in holders:
                sentences[seat] += _written(draw, letter, candidate, bundle, LETTER, IN_TIME)
            facts.append(Fact(f"letter {letter}", holders, name(candidate), code(letter), domain))
        for seat in neighbours:
            for _ in range(difficulty - 1):
                bundle = fresh.code() if _is_bundled(draw, difficulty) else None
                sentences[seat] += _written(draw, fresh.code(), draw.choice(candidates), bundle, WITHDRAWN, LATE)
        return Drawn(QUESTION.write(draw), sentences, facts, 1 / (CANDIDATES - 1), answerer)

    def options(self, setting: Setting) -> list[str]:
        """All candidates."""
        return sorted({record["candidate"] for kind in (LETTER, BUNDLED) for _, record in setting.stated(kind.name)})

    def right(self, setting: Setting) -> str:
        """The candidate with the most letters that count."""
        in_time = {record["bundle"] for _, record in setting.stated(IN_TIME.name)}
        letters = {record["letter"]: record["candidate"] for _, record in setting.stated(LETTER.name)}
        for _, record in setting.stated(BUNDLED.name):
            if record["bundle"] in in_time:
                letters[record["letter"]] = record["candidate"]
        counts = Counter(letters.values())
        return max(sorted(counts), key=lambda candidate: counts[candidate])


def _unshared(draw: Draw, candidates: list[str], many: int, ahead: int) -> list[str]:
    """The candidates of the letters that a single other seat holds, one entry per letter, `many` in all.

    The best candidate has `ahead` entries more than the favourite, and at least one more than each other candidate.
    """
    favourite, best, *rest = candidates
    for_favourite = max(0, -(-(many + len(rest) - (len(rest) + 1) * ahead) // (len(rest) + 2)))
    for_best = for_favourite + ahead
    pool = [each for each in rest for _ in range(for_best - 1)]
    return [*[favourite] * for_favourite, *[best] * for_best, *draw.sample(pool, many - for_favourite - for_best)]


def _is_bundled(draw: Draw, difficulty: int) -> bool:
    return difficulty >= FIRST_DIFFICULTY and draw.chance(0.5)


def _written(draw: Draw, letter: str, candidate: str, bundle: str | None, alone: Statement, of: Statement) -> list[str]:
    """Without a bundle, the statement `alone`; else the letter in its bundle, and the statement `of` about that."""
    if bundle is None:
        return [alone.write(draw, letter=letter, candidate=candidate)]
    return [BUNDLED.write(draw, letter=letter, candidate=candidate, bundle=bundle), of.write(draw, bundle=bundle)]

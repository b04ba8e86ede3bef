"""The researchers' part: measures a text, aspect by aspect, and states findings."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, TypeVar

from pydantic import Field

# Splits a text into sentences and words, and computes its readability.

_WORD = re.compile(r"[^\W_]+(?:['\u2019.,-][^\W_]+)*")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"\u201d\u2019)\]]{0,3}\s+(?=[\"\u201c\u2018(\[]?[A-Z0-9])")
_ABBREVIATION = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|vs|cf|e\.g|i\.e|etc|approx|Fig|No|al)\.$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, its number in the text (from 1), and its words in order."""

    number: int
    text: str
    words: tuple[str, ...]


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text; a blank line ends one too, an abbreviation's full stop does not."""
    found = [_as_one_line(piece) for paragraph in _PARAGRAPH.split(text) for piece in _split_paragraph(paragraph)]
    worded = ((sentence, tuple(_WORD.findall(sentence))) for sentence in found)
    return tuple(
        Sentence(number, sentence, words)
        for number, (sentence, words) in enumerate(((s, w) for s, w in worded if w), start=1)
    )


def _split_paragraph(paragraph: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(paragraph):
        if _ABBREVIATION.search(paragraph, max(start, end.start() - 12), end.start()):
            continue
        pieces.append(paragraph[start : end.end()])
        start = end.end()
    return [*pieces, paragraph[start:]]


def _as_one_line(text: str) -> str:
    return " ".join(text.split())


def readability_grade(sentences: Sequence[Sentence]) -> float:
    """The Automated Readability Index: the US school grade for which a text is readable.

    4.71 · characters/word + 0.5 · words/sentence - 21.43. Source: Smith & Senter, AMRL-TR-66-220 (1967).
    Raises ZeroDivisionError on a text without words.
    """
    words = [word for sentence in sentences for word in sentence.words]
    characters = sum(character.isalnum() for word in words for character in word)
    return 4.71 * characters / len(words) + 0.5 * len(words) / len(sentences) - 21.43


def passage(sentence: Sentence, first: int, n_words: int) -> str:
    """The part of a sentence with these words, as it is written. `first`: the place of the first word, from 0."""
    words = list(_WORD.finditer(sentence.text))[first : first + n_words]
    return sentence.text[words[0].start() : words[-1].end()] if words else ""


def contains(text: str, quote: str) -> bool:
    """Whether the text has this passage; case and line breaks do not matter."""
    return _as_one_line(quote).casefold() in _as_one_line(text).casefold()


# The word lists and patterns that the measurements use.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HEDGES: Final = _words(
    """
    apparently appear appears approximately arguably could generally may maybe might mostly partly perhaps possibly
    presumably probably relatively roughly seem seemed seems somewhat suggest suggests tend tended tends
    """
)
"""Words that soften a claim: a short list after Hyland, Metadiscourse (2005), appendix."""

BOOSTERS: Final = _words(
    """
    always certainly clearly conclusively definitely dramatically everyone never nobody obviously perfect proved
    proven proves revolutionary significantly undeniable undeniably undoubtedly unprecedented
    """
)
"""Words that make a claim strong enough to owe its reader a source: boosters (same list) and superlatives."""

STOP_WORDS: Final = _words(
    """
    about above after again also although among another because been before being below between both cannot could
    does down during each either even every few from further have having here hers however into itself just like
    many more most much must near nearly neither never none once only other others ours over same shall should
    since some such than that their theirs them then there these they this those through thus under until very
    well were what when where whether which while whom whose will with within without would your yours
    """
)
"""Words too common to be worth counting as repeated."""

SOURCE: Final = re.compile(
    r"\[\d+(?:, ?\d+)*\]"  # [3], [1, 4]
    r"|\([^()]*\b(?:19|20)\d\d[a-z]?\)"  # (Okafor, 2021)
    r"|\bet al\b|\baccording to\b|\bappendix\b|\b(?:table|figure|fig\.|section) ?\d+",
    re.IGNORECASE,
)
"""A source: a citation, an attribution, or a reference to a table, a figure or a section."""

FIGURE: Final = re.compile(r"(?<![\w.,-])\d[\d.,]*(?<![.,])(?: ?%| per ?cent\b)?")
"""A number that stands alone, with its percent sign; not part of a name such as `COVID-19` or `A4`."""

YEAR: Final = re.compile(r"(?:19|20)\d\d")


# A team's findings on a text: facts, advice, statements of the review, and checks of facts and statements.

MAX_ITEMS = 400
"""Limit of the facts, and of the statements, in one message."""

Label = Annotated[str, Field(max_length=128)]
Prose = Annotated[str, Field(max_length=4000)]


class Aspect(StrEnum):
    """An aspect of the text that one researcher can examine alone."""

    SENTENCES = "sentences"
    SUPPORT = "support"
    REPETITION = "repetition"
    HEDGING = "hedging"


class Weakness(StrEnum):
    """The weakness that a fact shows, gravest first: missing support weighs more than poor style."""

    BARE_FIGURE = "bare_figure"
    BARE_CLAIM = "bare_claim"
    LONG_SENTENCE = "long_sentence"
    DENSE_HEDGING = "dense_hedging"
    OVERUSED_WORD = "overused_word"


class Section(StrEnum):
    """The section of the review that a statement belongs to."""

    SUMMARY = "summary"
    STRENGTH = "strength"
    WEAKNESS = "weakness"


@dataclass(frozen=True, slots=True)
class TextFact:
    """A measurement: a figure for the whole text (`flaw` is None), or a weak spot.

    `claim`: the fact in words; `value`: the figure in the claim (words, occurrences, a share); `sentence`: from 1.
    """

    fact_id: Label
    aspect: Aspect
    claim: Prose
    value: float
    flaw: Weakness | None = None
    sentence: int | None = None
    quote: Prose = ""
    found_by: Label = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """How the writer could correct the weakness that a fact shows."""

    fact_id: Label
    text: Prose


@dataclass(frozen=True, slots=True)
class ReviewStatement:
    """A sentence of the review, and the facts that support it."""

    statement_id: Label
    part: Section
    text: Prose
    rests_on: Annotated[tuple[Label, ...], Field(max_length=MAX_ITEMS)]
    written_by: Label = ""


@dataclass(frozen=True, slots=True)
class Check:
    """An agent's check of a fact or a statement (`subject`: its id): whether it holds and, if not, why."""

    subject: Label
    holds: bool
    checked_by: Label
    reason: Prose = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings so far. `|` joins the findings of several agents; of two with the same id, the right one wins."""

    facts: Annotated[tuple[TextFact, ...], Field(max_length=MAX_ITEMS)] = ()
    advice: Annotated[tuple[Advice, ...], Field(max_length=MAX_ITEMS)] = ()
    statements: Annotated[tuple[ReviewStatement, ...], Field(max_length=MAX_ITEMS)] = ()
    checks: Annotated[tuple[Check, ...], Field(max_length=4 * MAX_ITEMS)] = ()
    notes: Annotated[tuple[Prose, ...], Field(max_length=MAX_ITEMS)] = ()

    def __or__(self, other: "Findings") -> "Findings":
        return Findings(
            facts=_union(self.facts, other.facts, lambda fact: fact.fact_id),
            advice=_union(self.advice, other.advice, lambda advice: advice.fact_id),
            statements=_union(self.statements, other.statements, lambda statement: statement.statement_id),
            checks=_union(self.checks, other.checks, lambda check: (check.subject, check.checked_by)),
            notes=_union(self.notes, other.notes, lambda note: note),
        )

    @property
    def checked(self) -> bool:
        """Whether there are statements, and each has a check."""
        subjects = {check.subject for check in self.checks}
        return bool(self.statements) and all(statement.statement_id in subjects for statement in self.statements)

    @property
    def refuted(self) -> dict[str, str]:
        """The ids of refuted facts and statements, each with the first reason given."""
        reasons: dict[str, str] = {}
        for check in self.checks:
            if not check.holds:
                reasons.setdefault(check.subject, check.reason)
        return reasons

    @property
    def unrefuted_facts(self) -> tuple[TextFact, ...]:
        """The facts that nobody refuted."""
        refuted = self.refuted
        return tuple(fact for fact in self.facts if fact.fact_id not in refuted)

    @property
    def unrefuted_statements(self) -> tuple[ReviewStatement, ...]:
        """The statements that nobody refuted."""
        refuted = self.refuted
        return tuple(statement for statement in self.statements if statement.statement_id not in refuted)


_T = TypeVar("_T")


def _union(left: Iterable[_T], right: Iterable[_T], key: Callable[[_T], Hashable]) -> tuple[_T, ...]:
    return tuple({key(item): item for item in (*left, *right)}.values())


# The measurements.

LONG_SENTENCE_WORDS: Final = 25
"""More words than this in a sentence are worth splitting. Source: GOV.UK content design guidance."""

DENSE_HEDGES: Final = 2
"""The number of hedges from which on a sentence counts as vague."""

OVERUSED_COUNT: Final = 5
OVERUSED_SHARE: Final = 0.015
"""A content word is overused if it occurs at least this often and makes up at least this share of all words."""

MAX_FLAWS: Final = 40
"""Limit of the weak spots of one kind, in the order of the text."""

_MAX_WORD = 40
_MAX_QUOTE = 120


def measure(text: str, aspects: Iterable[Aspect], found_by: str) -> tuple[TextFact, ...]:
    """The facts of the given aspects: for each, one figure for the whole text, then its weak spots in order.

    Raises ValueError on a text without words.
    """
    sentences = sentences_of(text)
    if not sentences:
        raise ValueError("the text has no words")
    return tuple(fact for aspect in dict.fromkeys(aspects) for fact in _facts(aspect, sentences, found_by))


WeakSpot = tuple[Weakness, Sentence | str, str, int]
"""A flaw, the sentence or the word that has it, the claim, and the figure in the claim."""

Measured = tuple[float, str, Iterable[WeakSpot]]
"""The figure for the whole text, its claim, and the weak spots."""


def _facts(aspect: Aspect, sentences: Sequence[Sentence], found_by: str) -> Iterator[TextFact]:
    value, claim, weak = _MEASURES[aspect](sentences)
    yield TextFact(str(aspect), aspect, claim, float(value), found_by=found_by)
    for flaw, at, claim, value in weak:
        number, quote = (None, at) if isinstance(at, str) else (at.number, _excerpt(at.text))
        yield TextFact(f"{flaw}-{number or quote}", aspect, claim, float(value), flaw, number, quote, found_by)


def _measure_sentences(sentences: Sequence[Sentence]) -> Measured:
    n_words = _n_words(sentences)
    claim = (
        f"The text has {_count(n_words, 'word')} in {_count(len(sentences), 'sentence')}, "
        f"{n_words / len(sentences):.1f} words a sentence, and a readability grade of "
        f"{readability_grade(sentences):.1f} (Automated Readability Index)."
    )
    long = [(each, len(each.words)) for each in sentences if len(each.words) > LONG_SENTENCE_WORDS][:MAX_FLAWS]
    weak = (
        (Weakness.LONG_SENTENCE, each, f"Sentence {each.number} has {length} words.", length) for each, length in long
    )
    return len(sentences), claim, weak


def _measure_support(sentences: Sequence[Sentence]) -> Measured:
    owing = [(each, _figures(each), _matching(each, BOOSTERS)) for each in sentences]
    owing = [item for item in owing if item[1] or item[2]]
    bare = [item for item in owing if not SOURCE.search(item[0].text)]
    weak = list[WeakSpot]()
    for each, figures, strong in bare[:MAX_FLAWS]:
        if figures:
            claim = f"Sentence {each.number} gives {_listed(figures)} without a source."
            weak.append((Weakness.BARE_FIGURE, each, claim, len(figures)))
        if strong:
            claim = f"Sentence {each.number} says {_listed(strong)} without evidence."
            weak.append((Weakness.BARE_CLAIM, each, claim, len(strong)))
    n_sourced = len(owing) - len(bare)
    claim = f"{_count(len(owing), 'sentence')} with figures or strong claims, {n_sourced} of them with a source."
    return len(bare), claim, weak


def _measure_repetition(sentences: Sequence[Sentence]) -> Measured:
    words = [word.lower() for each in sentences for word in each.words if 3 < len(word) <= _MAX_WORD and word.isalpha()]
    content = Counter(word for word in words if word not in STOP_WORDS)
    n_words = _n_words(sentences)
    frequent = (item for item in content.most_common() if item[1] >= OVERUSED_COUNT)
    overused = [item for item in frequent if item[1] / n_words >= OVERUSED_SHARE][:MAX_FLAWS]
    weak = (
        (Weakness.OVERUSED_WORD, word, f"The word “{word}” occurs {count} times.", count) for word, count in overused
    )
    return len(content), f"{_count(content.total(), 'content word')}, {len(content)} of them distinct.", weak


def _measure_hedging(sentences: Sequence[Sentence]) -> Measured:
    hedged = [(each, _matching(each, HEDGES)) for each in sentences]
    n_hedges = sum(len(found) for _, found in hedged)
    rate = 100 * n_hedges / _n_words(sentences)
    dense = [(each, found) for each, found in hedged if len(found) >= DENSE_HEDGES][:MAX_FLAWS]
    softens = "Sentence {} softens its claim {} times: {}.".format
    weak = (
        (Weakness.DENSE_HEDGING, each, softens(each.number, len(found), _listed(found)), len(found))
        for each, found in dense
    )
    return round(rate, 1), f"The text has {_count(n_hedges, 'softening word')}, {rate:.1f} in a hundred.", weak


_MEASURES: Final[dict[Aspect, Callable[[Sequence[Sentence]], Measured]]] = {
    Aspect.SENTENCES: _measure_sentences,
    Aspect.SUPPORT: _measure_support,
    Aspect.REPETITION: _measure_repetition,
    Aspect.HEDGING: _measure_hedging,
}


def _excerpt(text: str) -> str:
    if len(text) <= _MAX_QUOTE:
        return text
    cut = text[:_MAX_QUOTE]
    return cut[: cut.rfind(" ")] if " " in cut else cut


def _figures(sentence: Sentence) -> list[str]:
    """The results among the numbers of a sentence: percentages, fractions and counts from 100 on, but no years.

    Smaller whole numbers mostly describe (six stations, 12 bikes) rather than claim.
    """
    found = FIGURE.findall(SOURCE.sub(" ", sentence.text))
    return [figure for figure in found if len(figure) <= _MAX_WORD and not YEAR.fullmatch(figure) and _reports(figure)]


def _reports(figure: str) -> bool:
    return not figure.isdecimal() or int(figure) >= 100


def _matching(sentence: Sentence, lexicon: frozenset[str]) -> list[str]:
    return [word for word in sentence.words if word.lower() in lexicon]


def _n_words(sentences: Sequence[Sentence]) -> int:
    return sum(len(sentence.words) for sentence in sentences)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(items: Sequence[str], most: int = 4) -> str:
    shown = [f"“{item}”" for item in items[:most]]
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

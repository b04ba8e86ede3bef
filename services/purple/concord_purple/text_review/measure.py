"""The researchers' part: measures a text, aspect by aspect."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from concord_purple.text_review.findings import Aspect, Fact, Flaw
from concord_purple.text_review.lexicon import BOOSTERS, FIGURE, HEDGES, SOURCE, STOP_WORDS, YEAR
from concord_purple.text_review.text import Sentence, readability_grade, sentences_of

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


def measure(text: str, aspects: Iterable[Aspect], found_by: str) -> tuple[Fact, ...]:
    """The facts of the given aspects: for each, one figure for the whole text, then its weak spots in order.

    Raises ValueError on a text without words.
    """
    sentences = sentences_of(text)
    if not sentences:
        raise ValueError("the text has no words")
    return tuple(fact for aspect in dict.fromkeys(aspects) for fact in _MEASURES[aspect](sentences, found_by))


def _measure_sentences(sentences: Sequence[Sentence], found_by: str) -> Iterator[Fact]:
    n_words = _n_words(sentences)
    mean = n_words / len(sentences)
    claim = (
        f"The text has {_count(n_words, 'word')} in {_count(len(sentences), 'sentence')}, {mean:.1f} words a sentence, "
        f"and a readability grade of {readability_grade(sentences):.1f} (Automated Readability Index)."
    )
    yield Fact("sentences", Aspect.SENTENCES, claim, float(len(sentences)), found_by=found_by)
    long = (sentence for sentence in sentences if len(sentence.words) > LONG_SENTENCE_WORDS)
    for sentence in islice(long, MAX_FLAWS):
        length = len(sentence.words)
        claim = f"Sentence {sentence.number} has {length} words."
        yield _flaw(Aspect.SENTENCES, Flaw.LONG_SENTENCE, sentence, claim, length, found_by)


def _measure_support(sentences: Sequence[Sentence], found_by: str) -> Iterator[Fact]:
    owing = [(sentence, _figures(sentence), _matching(sentence, BOOSTERS)) for sentence in sentences]
    owing = [item for item in owing if item[1] or item[2]]
    bare = [item for item in owing if not SOURCE.search(item[0].text)]
    n_sourced = len(owing) - len(bare)
    claim = f"{_count(len(owing), 'sentence')} with figures or strong claims, {n_sourced} of them with a source."
    yield Fact("support", Aspect.SUPPORT, claim, float(len(bare)), found_by=found_by)
    for sentence, figures, strong in bare[:MAX_FLAWS]:
        if figures:
            claim = f"Sentence {sentence.number} gives {_listed(figures)} without a source."
            yield _flaw(Aspect.SUPPORT, Flaw.BARE_FIGURE, sentence, claim, len(figures), found_by)
        if strong:
            claim = f"Sentence {sentence.number} says {_listed(strong)} without evidence."
            yield _flaw(Aspect.SUPPORT, Flaw.BARE_CLAIM, sentence, claim, len(strong), found_by)


def _measure_repetition(sentences: Sequence[Sentence], found_by: str) -> Iterator[Fact]:
    n_words = _n_words(sentences)
    content = Counter(
        word.lower()
        for sentence in sentences
        for word in sentence.words
        if 3 < len(word) <= _MAX_WORD and word.isalpha() and word.lower() not in STOP_WORDS
    )
    claim = f"{_count(content.total(), 'content word')}, {len(content)} of them distinct."
    yield Fact("repetition", Aspect.REPETITION, claim, float(len(content)), found_by=found_by)
    overused = (
        (word, count)
        for word, count in content.most_common()
        if count >= OVERUSED_COUNT and count / n_words >= OVERUSED_SHARE
    )
    for word, count in islice(overused, MAX_FLAWS):
        fact_id, claim = f"{Flaw.OVERUSED_WORD}-{word}", f"The word “{word}” occurs {count} times."
        yield Fact(fact_id, Aspect.REPETITION, claim, float(count), Flaw.OVERUSED_WORD, None, word, found_by)


def _measure_hedging(sentences: Sequence[Sentence], found_by: str) -> Iterator[Fact]:
    hedged = [(sentence, _matching(sentence, HEDGES)) for sentence in sentences]
    n_hedges = sum(len(found) for _, found in hedged)
    rate = 100 * n_hedges / _n_words(sentences)
    claim = f"The text has {_count(n_hedges, 'softening word')}, {rate:.1f} in a hundred."
    yield Fact("hedging", Aspect.HEDGING, claim, round(rate, 1), found_by=found_by)
    dense = ((sentence, found) for sentence, found in hedged if len(found) >= DENSE_HEDGES)
    for sentence, found in islice(dense, MAX_FLAWS):
        claim = f"Sentence {sentence.number} softens its claim {len(found)} times: {_listed(found)}."
        yield _flaw(Aspect.HEDGING, Flaw.DENSE_HEDGING, sentence, claim, len(found), found_by)


_MEASURES: Final[dict[Aspect, Callable[[Sequence[Sentence], str], Iterator[Fact]]]] = {
    Aspect.SENTENCES: _measure_sentences,
    Aspect.SUPPORT: _measure_support,
    Aspect.REPETITION: _measure_repetition,
    Aspect.HEDGING: _measure_hedging,
}


def _flaw(aspect: Aspect, flaw: Flaw, sentence: Sentence, claim: str, value: int, found_by: str) -> Fact:
    fact_id = f"{flaw}-{sentence.number}"
    return Fact(fact_id, aspect, claim, float(value), flaw, sentence.number, _excerpt(sentence.text), found_by)


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

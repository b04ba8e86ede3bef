"""The synthesizer's part, a review drafted from facts, and the researchers' advice on each weak spot."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from concord_purple.text_review.findings import Advice, Aspect, Fact, Findings, Flaw, Section, Statement
from concord_purple.text_review.text import Sentence, passage, sentences_of

_JOINTS: Final = frozenset({"and", "but", "because", "although", "while", "which", "whereas", "since", "so", "when"})
_SHOWN_SENTENCES: Final = 8


def advise(text: str, facts: Iterable[Fact]) -> tuple[Advice, ...]:
    """Advice on every fact with a flaw, in the order of the facts."""
    sentences = sentences_of(text)
    return tuple(Advice(fact.fact_id, _ADVICE[fact.flaw](fact, sentences)) for fact in facts if fact.flaw is not None)


def _split_long(fact: Fact, sentences: Sequence[Sentence]) -> str:
    sentence = _sentence(fact, sentences)
    words = () if sentence is None else sentence.words
    joints = [place for place, word in enumerate(words) if word.lower() in _JOINTS and 4 <= place <= len(words) - 4]
    if sentence is None or not joints:
        return "Split it in two, or cut it."
    place = min(joints, key=lambda joint: abs(2 * joint - len(words)))
    return f"Split it in two before “{passage(sentence, place, 3)}”."


def _name_source(_fact: Fact, _sentences: Sequence[Sentence]) -> str:
    return "Name the source, or say how it was measured."


def _prove_or_soften(_fact: Fact, _sentences: Sequence[Sentence]) -> str:
    return "Give the evidence, or claim less."


def _vary(fact: Fact, sentences: Sequence[Sentence]) -> str:
    places = [sentence.number for sentence in sentences if fact.quote in (word.lower() for word in sentence.words)]
    shown = ", ".join(map(str, places[:_SHOWN_SENTENCES]))
    more = " and later" if len(places) > _SHOWN_SENTENCES else ""
    return f"Vary or cut it (sentences {shown}{more})."


def _say_once(_fact: Fact, _sentences: Sequence[Sentence]) -> str:
    return "Say once how sure you are."


_ADVICE: Final[dict[Flaw, Callable[[Fact, Sequence[Sentence]], str]]] = {
    Flaw.LONG_SENTENCE: _split_long,
    Flaw.BARE_FIGURE: _name_source,
    Flaw.BARE_CLAIM: _prove_or_soften,
    Flaw.OVERUSED_WORD: _vary,
    Flaw.DENSE_HEDGING: _say_once,
}


def _sentence(fact: Fact, sentences: Sequence[Sentence]) -> Sentence | None:
    """The sentence of a fact; None if the text has no such sentence."""
    place = (fact.sentence or 0) - 1
    return sentences[place] if 0 <= place < len(sentences) else None


MAX_WEAKNESSES: Final = 12
"""Limit of the weak spots that the review spells out; it counts the rest."""

_GRAVITY: Final = (
    Flaw.BARE_FIGURE,
    Flaw.BARE_CLAIM,
    Flaw.LONG_SENTENCE,
    Flaw.DENSE_HEDGING,
    Flaw.OVERUSED_WORD,
)
"""Gravest first: missing support weighs more than poor style."""

_PRAISE: Final = {
    Aspect.SENTENCES: "Every sentence is short enough to follow.",
    Aspect.SUPPORT: "No figure or strong claim stands without a source.",
    Aspect.REPETITION: "The wording does not repeat itself.",
    Aspect.HEDGING: "No claim is softened more than once.",
}


def draft(findings: Findings, written_by: str) -> tuple[Statement, ...]:
    """The statements of a review: what the text is, its strengths, and its weak spots with advice, gravest first."""
    facts = findings.unrefuted_facts
    advice = {item.fact_id: item.text for item in findings.advice}
    return (
        *_summary(facts, written_by),
        *_strengths(facts, written_by),
        *_weaknesses(facts, advice, written_by),
    )


def _summary(facts: tuple[Fact, ...], written_by: str) -> Iterator[Statement]:
    for fact in facts:
        if fact.flaw is None:
            yield Statement(f"summary-{fact.fact_id}", Section.SUMMARY, fact.claim, (fact.fact_id,), written_by)


def _strengths(facts: tuple[Fact, ...], written_by: str) -> Iterator[Statement]:
    flawed = {fact.aspect for fact in facts if fact.flaw is not None}
    for fact in facts:
        if fact.flaw is None and fact.aspect not in flawed:
            text = _PRAISE[fact.aspect]
            yield Statement(f"strength-{fact.fact_id}", Section.STRENGTH, text, (fact.fact_id,), written_by)


def _weaknesses(facts: tuple[Fact, ...], advice: dict[str, str], written_by: str) -> Iterator[Statement]:
    grave = sorted(
        ((fact, fact.flaw) for fact in facts if fact.flaw is not None),
        key=lambda item: (_GRAVITY.index(item[1]), -item[0].value),
    )
    for fact, _ in grave[:MAX_WEAKNESSES]:
        text = " ".join(filter(None, (_with_quote(fact), advice.get(fact.fact_id))))
        yield Statement(f"weakness-{fact.fact_id}", Section.WEAKNESS, text, (fact.fact_id,), written_by)
    if smaller := [fact.fact_id for fact, _ in grave[MAX_WEAKNESSES:]]:
        text = f"Smaller points: {len(smaller)} more."
        yield Statement("weakness-others", Section.WEAKNESS, text, tuple(smaller), written_by)


def _with_quote(fact: Fact) -> str:
    if fact.sentence is None:
        return fact.claim
    cut = "" if fact.quote.endswith((".", "!", "?")) else " …"
    return f"{fact.claim.removesuffix('.')} (“{fact.quote}”{cut})."

"""The synthesizer's part: a review drafted from the facts that stand."""

from collections.abc import Iterator
from typing import Final

from concord_purple.work.findings import Aspect, Fact, Findings, Flaw, Part, Statement

MAX_WEAKNESSES: Final = 12
"""Weak spots that the review spells out; it counts the rest."""

_GRAVITY: Final = (
    Flaw.BARE_FIGURE,
    Flaw.BARE_CLAIM,
    Flaw.LONG_SENTENCE,
    Flaw.DENSE_HEDGING,
    Flaw.OVERUSED_WORD,
)
"""What is unsupported weighs more than what is badly put."""

_PRAISE: Final = {
    Aspect.SENTENCES: "Every sentence is short enough to follow.",
    Aspect.SUPPORT: "No figure or strong claim stands without a source.",
    Aspect.REPETITION: "The wording does not repeat itself.",
    Aspect.HEDGING: "No claim is softened more than once.",
}


def draft(findings: Findings, written_by: str) -> tuple[Statement, ...]:
    """The statements of a review: what the text is, its strengths, and its weak spots with advice, gravest first."""
    facts = findings.standing_facts
    advice = {item.fact_id: item.text for item in findings.advice}
    return (
        *_summary(facts, written_by),
        *_strengths(facts, written_by),
        *_weaknesses(facts, advice, written_by),
    )


def _summary(facts: tuple[Fact, ...], written_by: str) -> Iterator[Statement]:
    for fact in facts:
        if fact.flaw is None:
            yield Statement(f"summary-{fact.fact_id}", Part.SUMMARY, fact.claim, (fact.fact_id,), written_by)


def _strengths(facts: tuple[Fact, ...], written_by: str) -> Iterator[Statement]:
    flawed = {fact.aspect for fact in facts if fact.flaw is not None}
    for fact in facts:
        if fact.flaw is None and fact.aspect not in flawed:
            text = _PRAISE[fact.aspect]
            yield Statement(f"strength-{fact.fact_id}", Part.STRENGTH, text, (fact.fact_id,), written_by)


def _weaknesses(facts: tuple[Fact, ...], advice: dict[str, str], written_by: str) -> Iterator[Statement]:
    grave = sorted(
        ((fact, fact.flaw) for fact in facts if fact.flaw is not None),
        key=lambda item: (_GRAVITY.index(item[1]), -item[0].value),
    )
    for fact, _ in grave[:MAX_WEAKNESSES]:
        text = " ".join(filter(None, (_with_quote(fact), advice.get(fact.fact_id))))
        yield Statement(f"weakness-{fact.fact_id}", Part.WEAKNESS, text, (fact.fact_id,), written_by)
    if smaller := [fact.fact_id for fact, _ in grave[MAX_WEAKNESSES:]]:
        text = f"Smaller points: {len(smaller)} more."
        yield Statement("weakness-others", Part.WEAKNESS, text, tuple(smaller), written_by)


def _with_quote(fact: Fact) -> str:
    if fact.sentence is None:
        return fact.claim
    cut = "" if fact.quote.endswith((".", "!", "?")) else " …"
    return f"{fact.claim.removesuffix('.')} (“{fact.quote}”{cut})."

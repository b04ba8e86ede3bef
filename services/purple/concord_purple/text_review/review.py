"""The review of a text: its draft, the checks of its statements, its stages, and its form for the reader."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from concord_purple.text_review.measure import (
    Advice,
    Aspect,
    Check,
    Findings,
    ReviewStatement,
    Section,
    Sentence,
    TextFact,
    Weakness,
    contains,
    measure,
    passage,
    sentences_of,
)

# The synthesizer's part, a review drafted from facts, and the researchers' advice on each weak spot.

_JOINTS: Final = frozenset({"and", "but", "because", "although", "while", "which", "whereas", "since", "so", "when"})
_SHOWN_SENTENCES: Final = 8


def advise(text: str, facts: Iterable[TextFact]) -> tuple[Advice, ...]:
    """Advice on every fact with a flaw, in the order of the facts."""
    sentences = sentences_of(text)
    return tuple(Advice(fact.fact_id, _ADVICE[fact.flaw](fact, sentences)) for fact in facts if fact.flaw is not None)


def _split_long(fact: TextFact, sentences: Sequence[Sentence]) -> str:
    sentence = _sentence(fact, sentences)
    words = () if sentence is None else sentence.words
    joints = [place for place, word in enumerate(words) if word.lower() in _JOINTS and 4 <= place <= len(words) - 4]
    if sentence is None or not joints:
        return "Split it in two, or cut it."
    place = min(joints, key=lambda joint: abs(2 * joint - len(words)))
    return f"Split it in two before “{passage(sentence, place, 3)}”."


def _vary(fact: TextFact, sentences: Sequence[Sentence]) -> str:
    places = [sentence.number for sentence in sentences if fact.quote in (word.lower() for word in sentence.words)]
    shown = ", ".join(map(str, places[:_SHOWN_SENTENCES]))
    more = " and later" if len(places) > _SHOWN_SENTENCES else ""
    return f"Vary or cut it (sentences {shown}{more})."


_ADVICE: Final[dict[Weakness, Callable[[TextFact, Sequence[Sentence]], str]]] = {
    Weakness.LONG_SENTENCE: _split_long,
    Weakness.BARE_FIGURE: lambda _fact, _sentences: "Name the source, or say how it was measured.",
    Weakness.BARE_CLAIM: lambda _fact, _sentences: "Give the evidence, or claim less.",
    Weakness.OVERUSED_WORD: _vary,
    Weakness.DENSE_HEDGING: lambda _fact, _sentences: "Say once how sure you are.",
}


def _sentence(fact: TextFact, sentences: Sequence[Sentence]) -> Sentence | None:
    """The sentence of a fact; None if the text has no such sentence."""
    place = (fact.sentence or 0) - 1
    return sentences[place] if 0 <= place < len(sentences) else None


MAX_WEAKNESSES: Final = 12
"""Limit of the weak spots that the review spells out; it counts the rest."""

_PRAISE: Final = {
    Aspect.SENTENCES: "Every sentence is short enough to follow.",
    Aspect.SUPPORT: "No figure or strong claim stands without a source.",
    Aspect.REPETITION: "The wording does not repeat itself.",
    Aspect.HEDGING: "No claim is softened more than once.",
}


def draft(findings: Findings, written_by: str) -> tuple[ReviewStatement, ...]:
    """The statements of a review: what the text is, its strengths, and its weak spots with advice, gravest first."""
    facts = findings.unrefuted_facts
    advice = {item.fact_id: item.text for item in findings.advice}
    figures = [fact for fact in facts if fact.flaw is None]
    gravity = list(Weakness).index
    weak = [(gravity(fact.flaw), -fact.value, fact) for fact in facts if fact.flaw is not None]
    weak_spots = [fact for *_, fact in sorted(weak, key=lambda item: item[:2])]
    flawed = {fact.aspect for fact in weak_spots}
    shown, rest = weak_spots[:MAX_WEAKNESSES], tuple(fact.fact_id for fact in weak_spots[MAX_WEAKNESSES:])
    said = [
        *((Section.SUMMARY, fact, fact.claim) for fact in figures),
        *((Section.STRENGTH, fact, _PRAISE[fact.aspect]) for fact in figures if fact.aspect not in flawed),
        *((Section.WEAKNESS, fact, f"{_with_quote(fact)} {advice.get(fact.fact_id, '')}".rstrip()) for fact in shown),
    ]
    statements = [
        ReviewStatement(f"{section}-{fact.fact_id}", section, text, (fact.fact_id,), written_by)
        for section, fact, text in said
    ]
    if rest:
        text = f"Smaller points: {len(rest)} more."
        statements.append(ReviewStatement("weakness-others", Section.WEAKNESS, text, rest, written_by))
    return tuple(statements)


def _with_quote(fact: TextFact) -> str:
    if fact.sentence is None:
        return fact.claim
    cut = "" if fact.quote.endswith((".", "!", "?")) else " …"
    return f"{fact.claim.removesuffix('.')} (“{fact.quote}”{cut})."


# Checks: researchers check facts, researchers and the synthesizer statements, the reviewer the whole draft.

_MAX_REASON: Final = 500
_QUOTE: Final = re.compile(r"“([^“”]*)”")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


def cross_check(text: str, facts: Iterable[TextFact], checked_by: str) -> tuple[Check, ...]:
    """Checks facts by measuring the text again: one check for each fact, in order."""
    facts = tuple(facts)
    measured = {fact.fact_id: fact for fact in measure(text, {fact.aspect: None for fact in facts}, checked_by)}
    return tuple(_check(fact.fact_id, _fault_of(fact, measured.get(fact.fact_id), text), checked_by) for fact in facts)


def _fault_of(fact: TextFact, measured: TextFact | None, text: str) -> str:
    if measured is None:
        return "not found in the text"
    if measured.value != fact.value:
        return f"measured {measured.value:g}, not {fact.value:g}"
    if measured.claim != fact.claim:
        return f"measured otherwise: {measured.claim}"
    if not contains(text, fact.quote):
        return "the quoted passage is not in the text"
    return ""


def evidence_from_text(text: str, findings: Findings, witness: str) -> tuple[Check, ...]:
    """A researcher's checks of the statements that rest on its facts: a statement holds if its facts do."""
    own = {fact.fact_id: fact for fact in findings.facts if fact.found_by == witness}
    if not own:
        return ()
    faults = {check.subject: check.reason for check in cross_check(text, own.values(), witness) if not check.holds}
    concerned = (statement for statement in findings.statements if set(statement.rests_on) & own.keys())
    return tuple(
        _check(
            statement.statement_id,
            "; ".join(f"{fact_id}: {faults[fact_id]}" for fact_id in statement.rests_on if fact_id in faults),
            witness,
        )
        for statement in concerned
    )


def evidence_from_draft(findings: Findings, witness: str) -> tuple[Check, ...]:
    """The synthesizer's checks: a statement holds if drafting it again gives the same words."""
    redrafted = {statement.statement_id: statement.text for statement in draft(findings, witness)}
    return tuple(
        _check(
            statement.statement_id,
            "" if redrafted.get(statement.statement_id) == statement.text else "does not follow from the facts",
            witness,
        )
        for statement in findings.statements
    )


def verify(text: str, findings: Findings, checked_by: str) -> tuple[Check, ...]:
    """The reviewer's checks: a statement's facts stand, the text has its quotes, and its facts have its numbers."""
    unrefuted = {fact.fact_id: fact for fact in findings.unrefuted_facts}
    advice = {item.fact_id: item.text for item in findings.advice}
    return tuple(
        _check(statement.statement_id, _objection(statement, unrefuted, advice, text), checked_by)
        for statement in findings.statements
    )


def _objection(statement: ReviewStatement, unrefuted: dict[str, TextFact], advice: dict[str, str], text: str) -> str:
    facts = [unrefuted[fact_id] for fact_id in statement.rests_on if fact_id in unrefuted]
    if not facts or len(facts) < len(statement.rests_on):
        return "rests on a fact that does not stand"
    strayed = [quote for quote in _QUOTE.findall(statement.text) if not contains(text, quote)]
    if strayed:
        return f"quotes what the text does not say: “{strayed[0]}”"
    if statement.part is Section.STRENGTH and any(fact.flaw is not None for fact in facts):
        return "praises what a fact holds against the text"
    grounds = [len(facts), *(f"{fact.claim} {fact.quote} {advice.get(fact.fact_id, '')}" for fact in facts)]
    known = set(_NUMBER.findall(" ".join(map(str, grounds))))
    invented = [number for number in _NUMBER.findall(statement.text) if number not in known]
    return f"gives a number that no fact has: {invented[0]}" if invented else ""


def _check(subject: str, fault: str, checked_by: str) -> Check:
    return Check(subject, not fault, checked_by, fault[:_MAX_REASON])


# The stages of a review. Each adds only what is missing, so that a team copes when a member fails.


def add_facts(text: str, aspects: Iterable[Aspect], findings: Findings, by: str) -> Findings:
    """Measures the aspects without facts. Raises ValueError on a text without words."""
    covered = {fact.aspect for fact in findings.facts}
    missing = [aspect for aspect in aspects if aspect not in covered]
    return findings | Findings(facts=measure(text, missing, by))


def add_fact_checks(text: str, findings: Findings, by: str) -> Findings:
    """Checks the facts that other agents found."""
    others = [fact for fact in findings.facts if fact.found_by != by]
    return findings | Findings(checks=cross_check(text, others, by))


def add_draft(text: str, findings: Findings, by: str) -> Findings:
    """Drafts the review unless there is one, with advice on the facts that have none yet."""
    if findings.statements:
        return findings
    advised = {item.fact_id for item in findings.advice}
    missing = [fact for fact in findings.unrefuted_facts if fact.fact_id not in advised]
    findings |= Findings(advice=advise(text, missing))
    return findings | Findings(statements=draft(findings, by))


def add_verdict(text: str, findings: Findings, by: str) -> Findings:
    """Checks every fact that other agents found, then every statement."""
    findings = add_fact_checks(text, findings, by)
    return findings | Findings(checks=verify(text, findings, by))


def add_missing_verdict(text: str, findings: Findings, by: str) -> Findings:
    """Checks facts and statements unless every statement has a check."""
    return findings if findings.checked else add_verdict(text, findings, by)


# The review as its reader gets it: prose, with how it came about, and one JSON object.

_HEADINGS: Final = {
    Section.SUMMARY: "Summary",
    Section.STRENGTH: "Strengths",
    Section.WEAKNESS: "Weaknesses",
}


def review_text(findings: Findings) -> str:
    """The review in plain text: the statements that stand, by section, then how the review came about."""
    return "\n\n".join((*_sections(findings), _origin(findings)))


def _sections(findings: Findings) -> Iterator[str]:
    for section, heading in _HEADINGS.items():
        texts = [statement.text for statement in findings.unrefuted_statements if statement.part is section]
        if section is Section.SUMMARY:
            yield f"{heading}\n{' '.join(texts)}"
        elif texts:
            yield "\n".join((heading, *(f"- {text}" for text in texts)))


def _origin(findings: Findings) -> str:
    """A credit for each member of the team, with the omissions and the errors."""
    statements = {statement.statement_id for statement in findings.statements}
    checkers = {check.checked_by for check in findings.checks if check.subject in statements}
    refuted = findings.refuted
    lines = [
        f"Facts: {len(findings.facts)}, found by {_names({fact.found_by for fact in findings.facts})}.",
        f"Written by {_names({statement.written_by for statement in findings.statements})}; "
        f"{len(statements)} statements checked by {_names(checkers)}.",
        *(f"Left out {subject}: {reason}." for subject, reason in refuted.items()),
        *findings.notes,
    ]
    return "\n".join(("How this review came about", *(f"- {line}" for line in lines)))


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nobody"


_KEYS: Final = {
    "long_sentences": (Aspect.SENTENCES, Weakness.LONG_SENTENCE),
    "figures_without_source": (Aspect.SUPPORT, Weakness.BARE_FIGURE),
    "claims_without_evidence": (Aspect.SUPPORT, Weakness.BARE_CLAIM),
    "doubly_hedged": (Aspect.HEDGING, Weakness.DENSE_HEDGING),
}


def answer_json(findings: Findings) -> str:
    """One JSON object on one line: the number of sentences, and by kind of flaw the numbers of its sentences.

    An aspect without facts is null. The object holds only what the facts say.
    """
    facts = findings.unrefuted_facts
    seen = {fact.aspect for fact in facts}
    counted = [int(fact.value) for fact in facts if fact.aspect is Aspect.SENTENCES and fact.flaw is None]
    found = {
        key: sorted(fact.sentence for fact in facts if fact.flaw is flaw and fact.sentence is not None)
        if aspect in seen
        else None
        for key, (aspect, flaw) in _KEYS.items()
    }
    return json.dumps({"sentences": counted[0] if counted else None} | found)

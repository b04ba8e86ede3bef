"""Checks: researchers check facts, researchers and the synthesizer statements, the reviewer the whole draft."""

import re
from collections.abc import Iterable
from typing import Final

from concord_purple.text_review.draft import draft
from concord_purple.text_review.findings import Check, Fact, Findings, Section, Statement
from concord_purple.text_review.measure import measure
from concord_purple.text_review.text import contains

_MAX_REASON: Final = 500
_QUOTE: Final = re.compile(r"“([^“”]*)”")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


def cross_check(text: str, facts: Iterable[Fact], checked_by: str) -> tuple[Check, ...]:
    """Checks facts by measuring the text again: one check for each fact, in order."""
    facts = tuple(facts)
    measured = {fact.fact_id: fact for fact in measure(text, {fact.aspect: None for fact in facts}, checked_by)}
    return tuple(_check(fact.fact_id, _fault_of(fact, measured.get(fact.fact_id), text), checked_by) for fact in facts)


def _fault_of(fact: Fact, measured: Fact | None, text: str) -> str:
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


def _objection(statement: Statement, unrefuted: dict[str, Fact], advice: dict[str, str], text: str) -> str:
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

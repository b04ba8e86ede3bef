"""The stages of a review. Each adds only what is missing, so that a team copes when a member fails."""

from collections.abc import Iterable

from concord_purple.text_review.checks import cross_check, verify
from concord_purple.text_review.draft import advise, draft
from concord_purple.text_review.findings import Aspect, Findings
from concord_purple.text_review.measure import measure


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

"""The team's trade, without a language model: reviewing a short text by what can be measured in it."""

from concord_purple.work.advice import advise
from concord_purple.work.answer import answer_json
from concord_purple.work.checks import cross_check, evidence_from_draft, evidence_from_text, verify
from concord_purple.work.draft import draft
from concord_purple.work.findings import Advice, Aspect, Check, Fact, Findings, Flaw, Part, Statement
from concord_purple.work.measure import measure
from concord_purple.work.review import review_text
from concord_purple.work.stages import add_draft, add_fact_checks, add_facts, add_missing_verdict, add_verdict

__all__ = [
    "Advice",
    "Aspect",
    "Check",
    "Fact",
    "Findings",
    "Flaw",
    "Part",
    "Statement",
    "add_draft",
    "add_fact_checks",
    "add_facts",
    "add_missing_verdict",
    "add_verdict",
    "advise",
    "answer_json",
    "cross_check",
    "draft",
    "evidence_from_draft",
    "evidence_from_text",
    "measure",
    "review_text",
    "verify",
]

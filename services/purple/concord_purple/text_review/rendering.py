"""The review as its reader gets it: prose, with how it came about, and one JSON object."""

import json
from collections.abc import Iterator
from typing import Final

from concord_purple.text_review.findings import Aspect, Findings, Flaw, Section

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
    "long_sentences": (Aspect.SENTENCES, Flaw.LONG_SENTENCE),
    "figures_without_source": (Aspect.SUPPORT, Flaw.BARE_FIGURE),
    "claims_without_evidence": (Aspect.SUPPORT, Flaw.BARE_CLAIM),
    "doubly_hedged": (Aspect.HEDGING, Flaw.DENSE_HEDGING),
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

"""The coordinator's part: the review as its reader gets it, and how it came about."""

from collections.abc import Iterator
from typing import Final

from concord_purple.work.findings import Findings, Part

_HEADINGS: Final = {Part.SUMMARY: "Summary", Part.STRENGTH: "Strengths", Part.WEAKNESS: "Weaknesses"}


def review_text(findings: Findings) -> str:
    """The review in plain text: the statements that stand, part by part, then how it came about."""
    return "\n\n".join((*_parts(findings), _origin(findings)))


def _parts(findings: Findings) -> Iterator[str]:
    for part, heading in _HEADINGS.items():
        texts = [statement.text for statement in findings.standing_statements if statement.part is part]
        if part is Part.SUMMARY:
            yield f"{heading}\n{' '.join(texts)}"
        elif texts:
            yield "\n".join((heading, *(f"- {text}" for text in texts)))


def _origin(findings: Findings) -> str:
    """Who found, wrote and checked what, what was left out, and what went wrong on the way."""
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

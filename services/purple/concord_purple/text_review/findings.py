"""A team's findings on a text: facts, advice, statements of the review, and checks of facts and statements."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, TypeVar

from pydantic import Field

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


class Flaw(StrEnum):
    """The weakness that a fact shows."""

    LONG_SENTENCE = "long_sentence"
    BARE_FIGURE = "bare_figure"
    BARE_CLAIM = "bare_claim"
    OVERUSED_WORD = "overused_word"
    DENSE_HEDGING = "dense_hedging"


class Section(StrEnum):
    """The section of the review that a statement belongs to."""

    SUMMARY = "summary"
    STRENGTH = "strength"
    WEAKNESS = "weakness"


@dataclass(frozen=True, slots=True)
class Fact:
    """A measurement: a figure for the whole text (`flaw` is None), or a weak spot.

    `claim`: the fact in words; `value`: the figure in the claim (words, occurrences, a share); `sentence`: from 1.
    """

    fact_id: Label
    aspect: Aspect
    claim: Prose
    value: float
    flaw: Flaw | None = None
    sentence: int | None = None
    quote: Prose = ""
    found_by: Label = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """How the writer could correct the weakness that a fact shows."""

    fact_id: Label
    text: Prose


@dataclass(frozen=True, slots=True)
class Statement:
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

    facts: Annotated[tuple[Fact, ...], Field(max_length=MAX_ITEMS)] = ()
    advice: Annotated[tuple[Advice, ...], Field(max_length=MAX_ITEMS)] = ()
    statements: Annotated[tuple[Statement, ...], Field(max_length=MAX_ITEMS)] = ()
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
    def unrefuted_facts(self) -> tuple[Fact, ...]:
        """The facts that nobody refuted."""
        refuted = self.refuted
        return tuple(fact for fact in self.facts if fact.fact_id not in refuted)

    @property
    def unrefuted_statements(self) -> tuple[Statement, ...]:
        """The statements that nobody refuted."""
        refuted = self.refuted
        return tuple(statement for statement in self.statements if statement.statement_id not in refuted)


_T = TypeVar("_T")


def _union(left: Iterable[_T], right: Iterable[_T], key: Callable[[_T], Hashable]) -> tuple[_T, ...]:
    return tuple({key(item): item for item in (*left, *right)}.values())

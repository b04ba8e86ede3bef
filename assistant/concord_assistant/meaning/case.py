"""The values of a text in the roles of a saying, each with what the text says of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from concord_assistant.meaning.acts import OPPOSITES, Performed
from concord_assistant.meaning.clauses import Clause, Reading
from concord_assistant.meaning.saying import Saying
from concord_assistant.meaning.targets import Target, none_of, targets_of
from concord_assistant.meaning.values import CURRENCIES, Found

Status = Literal["said", "denied", "asked", "open", "former"]

_HOLDS: Final = frozenset({"inform", "accept", "order"})
"""Acts by which something takes place."""
_FINITE: Final = re.compile(r"\b(?:is|are|was|were|has|have|had|will|remains?|stays?)\b", re.I)
"""A verb by which a sentence is none of a list's items."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A value of the text in the place of a role. `fits`: whether it is the right one."""

    text: str
    at: int
    fits: bool
    status: Status
    value: str = ""
    """In one spelling."""
    named: bool = False
    """Whether it is a name or other words, rather than a value of some kind."""


@dataclass(frozen=True, slots=True)
class Case:
    """One saying, and the text that has to say it."""

    reading: Reading
    acts: Sequence[Performed]
    saying: Saying
    owner: Mapping[int, int]
    """By the place of a value, the number of the saying that it belongs to."""
    number: int

    def seen(self, wordings: Sequence[str]) -> Iterator[Seen]:
        """The values of the text that are, or stand in the place of, a value in one of the wordings."""
        targets = [target for wording in wordings for target in targets_of(wording)]
        besides = [target for wording in self.saying.besides for target in targets_of(wording)]
        for found in self.reading.values:
            if not self._is_own(found.at) or found.at in self.reading.open_ended:
                continue
            fitting = [each.value for each in targets if each.fits(found)]
            fits = bool(fitting)
            competes = not any(each.fits(found) for each in besides) and any(each.competes(found) for each in targets)
            if fits or competes:
                yield Seen(
                    self.reading.text[found.at : found.end],
                    found.at,
                    fits,
                    self._status_of(found, targets),
                    (*fitting, found.options[0])[0],
                )
        for target in targets:
            for match in target.words.finditer(self.reading.text) if target.words else ():
                if self._is_own(match.start()):
                    yield Seen(
                        match[0], match.start(), True, self._status(match.start()), match[0].casefold(), named=True
                    )

    def _is_own(self, at: int) -> bool:
        return self.owner.get(at, self.number) == self.number

    def _status_of(self, found: Found, targets: Sequence[Target]) -> Status:
        """The status of a value. "40 inner tubes, and no tyres" denies 40 tyres."""
        units = frozenset[str]().union(*(each.units for each in targets))
        denied = any(none_of(unit).search(self.reading.text) for unit in units - CURRENCIES)
        return "denied" if denied else self._status(found.at)

    def _status(self, at: int) -> Status:
        reading, act = self.reading, self.saying.act
        clause = reading.clause_of(at)
        if at in reading.former:
            return "former"
        near = self.near(at)
        performed = any(each.act == act and not each.denied for each in near)
        if at in reading.denied and not (performed and act in {"refuse", "cancel"}):
            return "denied"
        if (at in reading.refused and act != "refuse") or (at in reading.called_off and act in _HOLDS):
            return "denied"
        if act != "ask" and (
            at in reading.alternative or at in reading.restricted or (clause is not None and clause.supposed)
        ):
            return "open"
        if act != "ask" and clause is not None and self._asks(clause):
            return "asked"
        if act != "inform" and not performed and any(each.denied or each.act != act for each in near):
            return "denied"
        return "said"

    def _asks(self, clause: Clause) -> bool:
        """Whether a clause asks for what it should say."""
        answered = any(
            each.act == self.saying.act and each.strong and not (each.denied or each.open)
            for each in self.relevant
            if each.clause.sentence == clause.sentence + 1
        )
        proposed = self.saying.or_proposes and (clause.proposed or _FINITE.search(clause.text) is None)
        told = clause.requested or answered or proposed
        return clause.question and not told

    def near(self, at: int) -> list[Performed]:
        """The act or its opposites in a clause, else in the nearest one before it, else after it in the sentence."""
        about, clause = self.relevant, self.reading.clause_of(at)
        if clause is None or not about:
            return []
        own = [each for each in about if each.clause == clause]
        if own:
            return own
        before = [each for each in about if each.clause.at < clause.at]
        if _FINITE.search(clause.text):
            before = [each for each in before if each.clause.sentence == clause.sentence]
        after = [each for each in about if each.clause.at > clause.at and each.clause.sentence == clause.sentence]
        if before and (before[-1].clause.sentence == clause.sentence or not after):
            return [each for each in before if each.clause == before[-1].clause]
        return [each for each in after if each.clause == after[0].clause]

    @property
    def relevant(self) -> list[Performed]:
        """The performances of the act, and those of its opposites that leave no doubt."""
        act = self.saying.act
        return [each for each in self.acts if each.act == act or (each.act in OPPOSITES[act] and each.strong)]

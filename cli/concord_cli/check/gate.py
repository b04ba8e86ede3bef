"""The gate: all pairs so far, and the verdict that they support."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from concord.assessment.result_row import ResultRow
from concord_cli.check.pairs import Pair
from concord_evaluator.statistics import (
    Bounds,
    ComparisonVerdict,
    bounds_of,
    change_verdict,
    detectable_difference,
    fewest_tasks,
    pairs_needed,
)


@dataclass(slots=True)
class Gate:
    """Collects pairs until they show a verdict. `margin`: the loss that is accepted, in (0, 1)."""

    margin: float
    pairs: list[Pair] = field(default_factory=list)
    old: list[ResultRow] = field(default_factory=list)
    new: list[ResultRow] = field(default_factory=list)
    verdict: ComparisonVerdict = "no difference shown"
    """What the pairs have shown. It stays shown, for the test is valid at any pair; only `not worse` may become
    `better`."""
    _passed_at: int = 0

    def add(self, pairs: Iterable[Pair]) -> None:
        """Takes pairs into account."""
        self.pairs += pairs
        now = change_verdict(self._lows, self._highs, self.margin)
        if self.verdict == "no difference shown":
            self.verdict, self._passed_at = now, len(self.pairs)
        elif self.verdict == "not worse" and now == "better":
            self.verdict = now

    @property
    def is_sure(self) -> bool:
        """Whether to stop. A version that gains more than the margin plays up to twice the pairs, to be `better`."""
        if self.verdict == "not worse" and (self.difference or 0.0) > self.margin:
            return len(self.pairs) >= 2 * self._passed_at
        return self.verdict != "no difference shown"

    def is_of(self, tasks: int) -> bool:
        """Whether pairs of so many different tasks can show anything. If not, this is the verdict."""
        if tasks < fewest_tasks():
            self.verdict = "too few tasks"
        return self.verdict != "too few tasks"

    @property
    def bounds(self) -> Bounds:
        """Between which the mean difference is shown to be."""
        return bounds_of(self._lows, self._highs)

    @property
    def difference(self) -> float | None:
        """The mean difference of the pairs that are known; None without any."""
        known = self._known
        return fmean(known) if known else None

    @property
    def pairs_needed(self) -> int | None:
        """How many pairs a verdict probably takes, judged by those that are known; None if that cannot be told."""
        needed = pairs_needed(self._known, self.margin)
        return None if needed is None else max(needed, len(self.pairs) + 1)

    @property
    def detectable(self) -> float | None:
        """The least difference that so many pairs probably show. Reading the test after each pair takes twice as many
        as a test of a fixed number. None for pairs that are all the same, as they are for fewer than two."""
        known = self._known
        return detectable_difference(stdev(known), len(known) // 2) if len(set(known)) > 1 else None

    @property
    def score(self) -> float | None:
        """The mean score of the new version, from 0 to 1; what nobody judged counts 0."""
        return fmean(pair.new.low for pair in self.pairs) if self.pairs else None

    @property
    def _known(self) -> Sequence[float]:
        return [pair.low for pair in self.pairs if pair.known]

    @property
    def _lows(self) -> list[float]:
        return [pair.low for pair in self.pairs]

    @property
    def _highs(self) -> list[float]:
        return [pair.high for pair in self.pairs]

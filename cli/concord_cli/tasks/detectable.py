"""Which differences between two versions a number of runs can show, for `concord tasks estimate`."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from concord_evaluator.statistics import POWER, detectable_difference


class Spread(NamedTuple):
    """The standard deviation of paired differences between two versions that score about so many points."""

    score: int
    deviation: float


SPREADS: Final[Mapping[str, tuple[Spread, Spread]]] = {
    "quick": (Spread(98, 0.15), Spread(74, 0.51)),
    "standard-1": (Spread(94, 0.25), Spread(59, 0.46)),
    "standard-2": (Spread(91, 0.31), Spread(51, 0.45)),
}
"""Of manifests, for a good team and for a poor one, by `python -m lab.benchmarks detectable` (docs/benchmarks.md)."""

OTHER: Final = SPREADS["standard-1"]
"""Of other suites, which nobody measured."""

MORE_RUNS: Final = 6


def detectable_text(suite: str, tasks: int, runs: int) -> str:
    """What so many runs of each task can show, and what `MORE_RUNS` can."""
    spreads = SPREADS.get(suite, OTHER)
    known = "" if suite in SPREADS else ", if they scatter as those of standard-1 do"
    more = "" if runs >= MORE_RUNS else f"; {MORE_RUNS} runs show {_range(spreads, MORE_RUNS * tasks)}"
    return (
        f"Two versions on the same puzzles: {runs} run(s) show {_range(spreads, runs * tasks)} in {POWER:.0%} of cases"
        f"{more}{known}. The first figure is for teams that score about {spreads[0].score}, the second for about "
        f"{spreads[1].score}."
    )


def _range(spreads: tuple[Spread, Spread], pairs: int) -> str:
    shown = [detectable_difference(spread.deviation, pairs) for spread in spreads]
    points = ["nothing" if each is None else f"{100 * each:.0f}" for each in shown]
    if shown[1] is None:
        return "no difference" if shown[0] is None else f"differences of {points[0]} points to none"
    return f"differences of {points[0]} to {points[1]} points"

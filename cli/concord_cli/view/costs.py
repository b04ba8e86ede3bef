"""Score against cost: the runs of an index whose agents tell what they cost, as points of a chart."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.display_text import on_one_line, shortened
from concord_cli.number_text import percent
from concord_cli.view.runs import Shown

MAX_NAME: Final = 24
"""Characters of a name in the chart; the whole one is in its label."""

FEWEST: Final = 2
"""One run has nothing to be compared with."""


@dataclass(frozen=True, slots=True)
class CostPoint:
    """A run: its place in shares of the chart, from the left and from the top, its name, and what it is.

    `leftward`: whether the name stands to the left, because there is no room to the right.
    """

    x: str
    y: str
    name: str
    leftward: bool
    label: str


@dataclass(frozen=True, slots=True)
class CostChart:
    """The runs with a score and a cost in the commonest currency. `most`: the cost at the right end."""

    points: Sequence[CostPoint]
    currency: str
    most: str
    left_out: int


def cost_chart(runs: Sequence[Shown]) -> CostChart | None:
    """The chart; None for fewer than `FEWEST` runs that tell their cost."""
    known = [(run, *run.cost) for run in runs if run.cost is not None]
    if not known:
        return None
    [(currency, _)] = Counter(currency for _, _, currency in known).most_common(1)
    shown = [(run, money, run.score) for run, money, of in known if of == currency and run.score is not None]
    most = max((money for _, money, _ in shown), default=0.0)
    if len(shown) < FEWEST or not most:
        return None
    points = [
        CostPoint(
            x=percent(money / most),
            y=percent(1 - score / run.max_score),
            name=shortened(on_one_line(run.file.stem), MAX_NAME),
            leftward=money > most / 2,
            label=f"{on_one_line(run.file.as_posix())}: score {score:.1f}, {money:.3g} {currency} a trial",
        )
        for run, money, score in shown
    ]
    return CostChart(points, currency, f"{most:.3g}", len(runs) - len(shown))

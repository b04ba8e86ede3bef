"""How often `concord gate` and `concord compare` find a difference, and how often they are wrong: by resampling."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from concord_evaluator.statistics import ALPHA, POWER, EProcess, compare_paired
from lab.benchmarks.tables import ResultTable

HISTORIES: Final = 1000
"""How often each case is played."""

ROUNDS: Final = 60
"""How often each task is played where nothing is to be found."""

EFFECTS: Final = (0.2, 0.1, 0.05)
SPREADS: Final = (0.3, 0.5)
MOST: Final = {0.2: 300, 0.1: 1500, 0.05: 5000}
"""By effect, the pairs after which a history is given up."""

GAINS: Final = (0.0, 0.1, 0.2, 0.4)
"""What the second of two compared teams is better by."""

_SEED: Final = 20


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """The tables of power and of errors. The draws are the same in every run."""
    return [_power_table(), _error_table(), _compared_table()]


def _power_table() -> ResultTable:
    rows = []
    for effect in EFFECTS:
        for spread in SPREADS:
            stops = sorted(_stop(_shifted(effect, spread, _draw(n)), MOST[effect]) for n in range(HISTORIES))
            rows.append(
                [f"{100 * effect:.0f} points", f"{spread:.1f}", *(str(stops[int(q * HISTORIES)]) for q in (0.5, POWER))]
            )
    return ResultTable(
        "Pairs until a difference is shown",
        f"Measured by `python -m lab.benchmarks power`, over {HISTORIES} histories of paired differences that are beta "
        "distributed on [-1, 1], with a look after every pair. The difference is that between the new version and the "
        "old one, or between the new version and the margin. Differences of 20 and 10 points are what the test is made "
        "for; 5 points take more pairs than most will play.",
        ("difference", "standard deviation", "half of the histories", f"{POWER:.0%}"),
        rows,
    )


def _error_table() -> ResultTable:
    cases = {
        "right or wrong, a quarter of the pairs differ": [0.0] * 24,
        "half of the tasks gain 40 points, half lose 40": [0.4, -0.4] * 12,
        "one task of 24 loses all, the others gain a little": [-1.0, *[1 / 23] * 23],
        "one task of 24 gains all, the others lose a little": [1.0, *[-1 / 23] * 23],
    }
    return ResultTable(
        "False alarms at any time",
        f"Measured by `python -m lab.benchmarks power`: {HISTORIES} histories of each case, in which the two versions "
        f"are equal over the 24 tasks. Each round plays every task once in random order, {ROUNDS} rounds, with a look "
        f"after every pair. At most {ALPHA:.0%} may ever be called worse, and as many better.",
        ("case", "ever called worse", "ever called better"),
        [[case, *(f"{100 * rate:.1f} %" for rate in _errors(tasks))] for case, tasks in cases.items()],
    )


def _errors(tasks: Sequence[float]) -> tuple[float, float]:
    """How often equal versions are ever called worse, and better."""
    pairs = ROUNDS * len(tasks)
    worse = sum(_stop((-each for each in _equal(tasks, _draw(n))), pairs) <= pairs for n in range(HISTORIES))
    better = sum(_stop(_equal(tasks, _draw(n)), pairs) <= pairs for n in range(HISTORIES))
    return worse / HISTORIES, better / HISTORIES


def _compared_table() -> ResultTable:
    rows = [
        [f"{tasks} tasks, {runs} runs", *(f"{100 * _called_different(tasks, runs, each):.1f} %" for each in GAINS)]
        for tasks in (6, 12, 24)
        for runs in (1, 3, 6)
    ]
    return ResultTable(
        "Differences that a comparison shows",
        f"Measured by `python -m lab.benchmarks power`: how often `concord compare` calls two teams different, over "
        f"{HISTORIES} comparisons of each case. Tasks have a uniform chance of being right, to which the "
        "second team adds a gain. Without a gain, each call is a false alarm: at most 5 % may be.",
        ("played", *("no gain" if not gain else f"{100 * gain:.0f} points" for gain in GAINS)),
        rows,
    )


def _called_different(tasks: int, runs: int, gain: float) -> float:
    """The share of comparisons in which a team is called better or worse."""
    called = 0
    for history in range(HISTORIES):
        draw = _draw(history)
        chances = [draw.uniform(0, 1 - gain) for _ in range(tasks)]
        first, second = (_played(chances, runs, more, draw) for more in (0.0, gain))
        found = compare_paired(first, second)
        called += found is not None and found.verdict() in {"better", "worse"}
    return called / HISTORIES


def _played(chances: Sequence[float], runs: int, gain: float, draw: Random) -> dict[str, dict[str, list[float]]]:
    """The outcomes of a team, right or wrong, by task and run."""
    return {
        str(task): {str(run): [float(draw.random() < chance + gain)] for run in range(runs)}
        for task, chance in enumerate(chances)
    }


def _draw(history: int) -> Random:
    return Random(_SEED + history)  # nosec B311  # noqa: S311 - a simulation


def _stop(differences: Iterator[float], most: int) -> int:
    """After how many differences the mean is shown to exceed 0; one more than `most` if it never is."""
    process = EProcess(0.0)
    for number, difference in zip(range(1, most + 1), differences, strict=False):
        process.add(difference)
        if process.shown:
            return number
    return most + 1


def _shifted(mean: float, spread: float, draw: Random) -> Iterator[float]:
    """Beta distributed differences on [-1, 1] with this mean and standard deviation."""
    centre = (mean + 1) / 2
    size = centre * (1 - centre) / (spread / 2) ** 2 - 1
    while True:
        yield 2 * draw.betavariate(centre * size, (1 - centre) * size) - 1


def _equal(tasks: Sequence[float], draw: Random) -> Iterator[float]:
    """Differences on tasks with these means, each round in random order: right or wrong, with the task's chance."""
    while True:
        for mean in draw.sample(tasks, len(tasks)):
            discordant = max(0.25, abs(mean))
            gained = (discordant + mean) / 2
            at = draw.random()
            yield 1.0 if at < gained else -1.0 if at < discordant else 0.0

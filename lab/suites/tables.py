"""The tables of the gate of the suites."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from lab.benchmarks.tables import ResultTable
from tests.kit.players.colluding import COLLUDING
from tests.kit.players.faults import FAULTS
from tests.kit.players.ladders import LADDERS, RUNGS, Curve, Ladder
from tests.kit.players.measures import Measures, Pretended
from tests.kit.players.sharing import LARGE, SIZES, Shared, credited_of
from tests.kit.players.strategies import HONEST, SHORT
from tests.kit.players.writings import WRITINGS

PRETENDERS: Final = ("null", "echo", "silent", "convention")


class Counts(NamedTuple):
    """How many tasks of each family are played, by what they are for."""

    instances: int
    pretended: int
    ladders: int


def tables_of(families: Sequence[Measures], counts: Counts) -> Iterator[ResultTable]:
    """All tables of the gate."""
    instances, pretended, ladders = counts
    yield ResultTable(
        "Teams that pretend",
        f"The mean outcome of {pretended:,} tasks of each family, for five seats, on all topologies and at all "
        "difficulties; for several strategies, that of the best. In parentheses, the one-sided p of Student's t test "
        "against chance plus 5 points; a family fails below 0.001. Null teams say nothing. Echo teams repeat the "
        "text of their turns. The seats of silent teams guess from their own briefs. Those of convention teams answer "
        "by a rule that all seats share.",
        ("Family", "Chance", *PRETENDERS),
        [
            [each.family, f"{each.chance:.2f}", *(_outcome(each.pretended[name]) for name in PRETENDERS)]
            for each in families
        ],
    )
    yield ResultTable(
        "Teams that play",
        f"{instances} tasks of each family. A good team sends its facts along a tree of the topology; a family fails "
        "if its outcome is below 1, or if it misses an exact bound. By calls, its members call each other instead of "
        "writing in rounds. A dumping team sends all that it knows to all neighbours in every round: it must be "
        "credited as much, and be less economical. Outcomes are credited ones. The last column is the share of known "
        "faults whose cause and seat the evaluator finds.",
        (
            "Family",
            "Outcome",
            "Messages",
            "Fewest",
            "Outcome by calls",
            "Calls",
            "Economy",
            "Dumping team's outcome",
            "Its economy",
            "Faults found",
        ),
        [
            [
                each.family,
                f"{each.oracle:.2f}",
                f"{each.messages:.1f}",
                f"{each.fewest:.1f}",
                f"{each.by_calls:.2f}",
                f"{each.calls:.1f}",
                f"{each.economy:.2f}",
                f"{each.dump:.2f}",
                f"{each.dump_economy:.2f}",
                f"{each.faults:.1%}",
            ]
            for each in families
        ],
    )
    yield _strategies(families, instances)
    yield ResultTable(
        "Ways to share, by family",
        "The mean credited outcome of the same trials, and the outcome in parentheses where it is more.",
        ("Family", *HONEST),
        [[each.family, *(_credited(each.shared.get(name, ())) for name in HONEST)] for each in families],
    )
    yield ResultTable(
        "Teams that share a memory",
        "Every seat of these teams gives the right answer, which it knows beside the exchange. The mean credited "
        f"outcome of {instances} tasks, and in parentheses the share of the facts that their messages hold. A family "
        "fails where a team is credited more than travelled.",
        ("Family", *COLLUDING),
        [
            [each.family, *(f"{figures[1]:.2f} ({figures[2]:.2f})" for figures in each.colluding.values())]
            for each in families
        ],
    )
    for name, ladder in LADDERS.items():
        yield ResultTable(
            f"Ladder: {name}",
            f"{ladder.what} The mean credited outcome of {ladders} tasks{'' if ladder.costs else ', and the economy'}. "
            "A family fails if one rung is credited more than a higher one (one-sided t test of the differences within "
            "tasks, 99 % over all pairs of rungs of all ladders), or if rate 1 "
            f"{'costs nothing' if ladder.costs else 'costs anything, or is as economical as rate 0'}.",
            ("Family", *(f"{rung:g}" for rung in RUNGS)),
            [[each.family, *_rungs(ladder, each.curves[name])] for each in families],
        )
    yield _faults(families)


def _strategies(families: Sequence[Measures], instances: int) -> ResultTable:
    """What each way to share is credited, over all families."""
    rows = list[list[str]]()
    for name in HONEST:
        by_family = {each.family: each.shared[name] for each in families if name in each.shared}
        trials = [trial for found in by_family.values() for trial in found]
        if not trials:
            continue
        sizes = [[trial for trial in trials if trial.seats == seats] for seats in SIZES]
        worst = min(by_family, key=lambda family: credited_of(by_family[family]))
        rows.append(
            [
                name,
                str(len(by_family)),
                str(len(trials)),
                f"{fmean(trial.outcome for trial in trials):.2f}",
                f"{fmean(trial.in_rounds for trial in trials):.3f}",
                f"{fmean(trial.by_calls for trial in trials):.3f}",
                *(f"{credited_of(found):.3f}" if found else "" for found in sizes),
                f"{worst} {credited_of(by_family[worst]):.2f}",
            ]
        )
    return ResultTable(
        "Ways to share",
        f"Honest teams: {instances} tasks of each family and size (a tenth for {LARGE} seats), on all topologies "
        f"and in {len(WRITINGS)} ways to write by turns, in rounds, and with each message as a call. The means, and "
        "the family with the lowest credited outcome. A family fails where an outcome is below 1, or where a trial is "
        f"credited less than its outcome; except {', '.join(sorted(SHORT))}, which leave out what the answer rests on. "
        "Briefs ask for it.",
        (
            *("Strategy", "Families", "Trials", "Outcome", "Credited in rounds", "By calls"),
            *(f"{seats} seats" for seats in SIZES),
            "Lowest",
        ),
        rows,
    )


def _credited(trials: Sequence[Shared]) -> str:
    if not trials:
        return "-"
    outcome, credited = fmean(trial.outcome for trial in trials), credited_of(trials)
    return f"{credited:.2f}" if credited >= outcome - 1e-9 else f"{credited:.2f} ({outcome:.2f})"


def _rungs(ladder: Ladder, curve: Curve) -> list[str]:
    """The cells of a ladder's row."""
    if ladder.costs:
        return [f"{mean:.2f}" for mean in curve.means]
    return [f"{mean:.2f} ({saved:.2f})" for mean, saved in zip(curve.means, curve.economies, strict=True)]


def _faults(families: Sequence[Measures]) -> ResultTable:
    made, found, alone = (
        sum((getattr(each, name) for each in families), Counter[str]()) for name in ("made", "found", "found_alone")
    )
    confused = sum((each.confused for each in families), Counter[tuple[str, str]]())
    return ResultTable(
        "Single known faults",
        "Faults that change the outcome of a good team of six seats. *Alone*: no other seat is named.",
        ("Fault", "Made", "Cause and seat found", "Alone", "Found instead"),
        [
            [
                fault,
                str(made[fault]),
                f"{found[fault]} ({found[fault] / max(made[fault], 1):.1%})",
                str(alone[fault]),
                "; ".join(f"{count} {causes}" for (name, causes), count in confused.most_common() if name == fault),
            ]
            for fault in FAULTS
            if made[fault]
        ]
        + [
            [
                "all",
                str(made.total()),
                f"{found.total()} ({found.total() / max(made.total(), 1):.2%})",
                str(alone.total()),
                "",
            ]
        ],
    )


def _outcome(pretended: Pretended) -> str:
    return f"{pretended.outcome:.2f} (p {pretended.p:.2g})"

"""`concord compare`, once its arguments are parsed, and the tables that it prints."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from concord.assessment.verdict import Estimate
from concord_cli.compare.changes import VersionChange, came_and_went, known_efforts
from concord_cli.compare.comparison import Comparison, PairLine, TeamLine, compare_teams
from concord_cli.compare.teams import read_teams
from concord_cli.display_text import counted
from concord_cli.errors import UsageError
from concord_cli.evaluate.inputs import read_expected
from concord_cli.number_text import figure_or_dash, span
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.terminal import output_console, plain_lines, plain_table
from concord_evaluator.statistics import fewest_tasks

WIDE = 200
"""Width of the output without a terminal."""

REFERENCE: Final = "reference"
"""In the place of a rank of the sample agent."""

MAX_TASKS: Final = 20
"""Tasks whose scores differ that are shown, the greatest losses first."""

FEWEST, MOST = 2, 20
"""Limits of the results files. Each is compared with each, and more pairs make wider intervals."""


def compare(
    results: Sequence[Path],
    output: Path | None,
    references: Sequence[Path] = (),
    expect: Path | None = None,
    *,
    as_json: bool = False,
) -> int:
    """Prints the comparison of the teams in these files as tables or as JSON, writes it, and returns the exit code.

    `references`: the files of the sample agent. `expect`: a file with the expected answers of recordings.

    Raises UsageError for an invalid results file, or too few or too many of them; AssessmentError if there is nothing
    to compare or the output cannot be written.
    """
    fewest = 1 if references else FEWEST
    if not fewest <= len(results) <= MOST:
        raise UsageError(f"expected {fewest} to {MOST} results files, got {len(results)}")
    if output is not None:
        prepare_folder(output)
    comparison = compare_teams(read_teams(results, references, read_expected(expect)))
    if output is not None:
        write_text(output, comparison.model_dump_json(indent=2) + "\n")
    if as_json:
        typer.echo(comparison.model_dump_json(indent=2))
    else:
        output_console(WIDE).print(table_of(comparison))
    return comparison.exit_code


def table_of(comparison: Comparison) -> RenderableType:
    """The tables of teams and pairs, the groups of teams without a shown difference, and the warnings."""
    return Group(
        *_kinds(comparison),
        *_differences(comparison),
        *_tie_groups(comparison),
        *([] if comparison.change is None else _change(comparison.change)),
        *_warnings(comparison.warnings),
    )


def _kinds(comparison: Comparison) -> Iterator[RenderableType]:
    """A table of the teams of each kind, with a heading if there are several."""
    kinds = [
        list(kind) for _, kind in groupby(comparison.teams, key=lambda team: (team.shared_process, team.ranking_kind))
    ]
    for number, teams in enumerate(kinds):
        if len(kinds) > 1 and (heading := _heading(teams[0], kinds)):
            yield Text(("\n" if number else "") + heading, style="bold")
        yield _teams(teams, comparison.level)


def _heading(team: TeamLine, kinds: Sequence[Sequence[TeamLine]]) -> str:
    """What sets the team's table apart; nothing for the only kind whose seats do not share a process."""
    several = len({kind[0].ranking_kind for kind in kinds}) > 1
    ranking = f"Ranking kind {team.ranking_kind or 'not stated'}" if several else ""
    if not team.shared_process:
        return ranking
    return "Teams whose seats share one process, ranked apart" + (
        f": {ranking[0].lower()}{ranking[1:]}" if ranking else ""
    )


def _differences(comparison: Comparison) -> Iterator[RenderableType]:
    if comparison.pairs:
        heading = f"\nDifferences, paired by task, with simultaneous {comparison.level:.0%} intervals"
        yield Text(heading, style="bold")
        yield _pairs(comparison.pairs)
        yield from _power(comparison.pairs)


def _teams(teams: Sequence[TeamLine], level: float) -> Table:
    heads = "team", "rank", "score", f"{level:.0%}", *_beside(teams), "passed", "tasks", "trials", "confidence"
    return plain_table(*heads, "latency ms", rows=(_team(team, _beside(teams)) for team in teams))


def _team(team: TeamLine, beside: Sequence[str]) -> Iterator[RenderableType]:
    yield plain_lines(team.name)
    yield from (_rank(team), f"{team.score:.1f}", span(team.score_low, team.score_high))
    yield from (_figure(getattr(team, name), name) for name in beside)
    yield from (f"{team.passed} of {team.trials}", str(team.tasks), str(team.trials), team.confidence)
    yield figure_or_dash(team.latency_avg_ms, ".0f")


def _beside(teams: Sequence[TeamLine]) -> list[str]:
    """The figures beside the score that any of the teams has."""
    names = ("information", "economy", "lift")
    return [name for name in names if any(getattr(team, name) is not None for team in teams)]


def _figure(figure: Estimate | None, name: str) -> str:
    """A figure with its interval: `0.95 [0.90, 1.00]`; the lift in points."""
    if figure is None:
        return "-"
    scale, form = (100, "+.0f") if name == "lift" else (1, ".2f")
    value = f"{scale * figure.value:{form}}"
    if figure.low is None or figure.high is None:
        return value
    return f"{value} [{scale * figure.low:{form}}, {scale * figure.high:{form}}]"


def _rank(team: TeamLine) -> str:
    if team.rank_best is None:
        return REFERENCE
    return f"{team.rank_best}" if team.rank_best == team.rank_worst else f"{team.rank_best}-{team.rank_worst}"


def _pairs(pairs: list[PairLine]) -> Table:
    heads = "first", "second", "second - first", "interval", "detectable", "tasks", "trials", ""
    return plain_table(*heads, rows=map(_pair, pairs))


def _pair(pair: PairLine) -> Iterator[RenderableType]:
    yield from (plain_lines(pair.first), plain_lines(pair.second), figure_or_dash(pair.difference, "+.1f"))
    yield from (span(pair.difference_low, pair.difference_high, "+.1f"), figure_or_dash(pair.detectable, ".1f"))
    yield from (str(pair.shared_tasks), str(pair.paired_trials), _verdict(pair))


def _power(pairs: list[PairLine]) -> Iterator[Text]:
    """What the comparison could be expected to show, what it can, and what ten points would take."""
    if len(pairs) != 1 or not pairs[0].shared_tasks:
        return
    [pair] = pairs
    tasks, ten = counted(pair.shared_tasks, "task"), counted(pair.runs_for_ten or 0, "run")
    if pair.verdict == "too few tasks":
        shown = f"{tasks} can show no difference: it takes {fewest_tasks()}."
    else:
        expected = "no difference" if pair.expected is None else f"differences from {pair.expected:.0f} points on"
        now = "none" if pair.detectable is None else f"those from {pair.detectable:.0f} points on"
        shown = (
            f"By the first team's scores, {tasks} can be expected to show {expected}; as these differ, they show {now}."
        )
    yield plain_lines(f"\n{shown} For 10 points it takes about {ten} of each task.")


def _verdict(pair: PairLine) -> Text:
    if pair.verdict == "worse":
        return plain_lines(f"{pair.first} is better", "green")
    if pair.verdict == "better":
        return plain_lines(f"{pair.second} is better", "green")
    return Text(pair.verdict, "yellow")


def _tie_groups(comparison: Comparison) -> Iterator[RenderableType]:
    groups = [", ".join(group) for group in comparison.groups if len(group) > 1]
    if groups:
        yield plain_lines(f"\nNo difference shown: {'; '.join(groups)}")


def _change(change: VersionChange) -> Iterator[RenderableType]:
    """The tasks that differ, the causes that came and went, and what trials took."""
    if tasks := [task for task in change.tasks if task.difference]:
        yield Text("\nTasks whose scores differ", style="bold")
        scores = (
            (
                f"{task.old:.1f}",
                f"{task.new:.1f}",
                f"{task.difference:+.1f}",
                str(task.pairs) if task.pairs else "by mean",
            )
            for task in tasks[:MAX_TASKS]
        )
        names = (plain_lines(task.task) for task in tasks)
        heads = "task", "first", "second", "difference", "pairs"
        yield plain_table(*heads, rows=((name, *shown) for name, shown in zip(names, scores, strict=False)))
        if len(tasks) > MAX_TASKS:
            yield Text(f"and {len(tasks) - MAX_TASKS} more")
    for heading, causes in came_and_went(change.causes):
        yield Text(f"\n{heading} from the first to the second", style="bold")
        yield from (plain_lines(f"  {cause.text}") for cause in causes)
    if known := known_efforts(change.efforts):
        yield Text("\nTaken on average", style="bold")
        yield from (plain_lines(f"  {effort.text}") for effort in known)


def _warnings(warnings: list[str]) -> Iterator[RenderableType]:
    if warnings:
        yield Text("\nWarnings", style="bold")
        yield from (plain_lines(f"  {warning}") for warning in warnings)

"""`concord gate`, once its arguments are parsed: plays both versions until the answer is sure, or reads results."""

import random
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

import typer
from pydantic import JsonValue

from concord.assessment import MAX_TRIALS
from concord.assessment.result_row import ResultRow
from concord.suite.draw import SECRET_BYTES
from concord_cli.assessing import local_scenario
from concord_cli.check.gate import CheckResult, Gate, result_of, result_of_finished
from concord_cli.check.outputs import lines_of, write_junit, write_markdown
from concord_cli.check.pairs import LOST, Slot, forfeited_in, paired, played_in, random_order, refusals
from concord_cli.check.team import AT_ONCE, OpenTeam, planned_slots, tasks_of
from concord_cli.commands.arguments import CheckArguments
from concord_cli.compare.comparison import compare_teams
from concord_cli.compare.teams import read_teams
from concord_cli.errors import UsageError
from concord_cli.evaluate.inputs import is_recording, read_expected
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.results_file import read_rows, write_results
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.tasks.secrets import revealed_secret
from concord_cli.terminal import ProgressLog

RESULTS_SUFFIXES: Final = frozenset({".json", ".jsonl", ".gz"})
"""Of results files. A scenario is a TOML file."""

MAX_RUNS: Final = 100
"""Runs of each task that an assessment can plan."""


async def check(arguments: CheckArguments, open_team: OpenTeam, progress: ProgressLog) -> int:
    """Plays, pairs, writes all outputs, and returns the exit code.

    Raises UsageError, also for rows that cannot be paired; AssessmentError.
    """
    for path in (arguments.report, arguments.junit, arguments.markdown):
        if path is not None:
            prepare_folder(path)
    if arguments.scenario.suffix in RESULTS_SUFFIXES or is_recording(arguments.scenario):
        return _tell(arguments, _of_finished(arguments), progress)
    if arguments.expect is not None:
        raise UsageError("--expect has answers of recordings, and a scenario is played: give recordings of both")
    if arguments.baseline is None and arguments.against is None:
        raise UsageError("nothing to compare with: give --baseline RESULTS, --against OLD.toml, or both")
    new = local_scenario(arguments.scenario)
    old = None if arguments.against is None else local_scenario(arguments.against)
    prepare_folder(arguments.output)
    baseline = None if arguments.baseline is None else _Baseline.of(arguments.baseline)
    gate = Gate(arguments.margin / 100)
    enough = gate.is_of(len({task.id for task in tasks_of(new)}))
    if enough and baseline is not None:
        await _Run(gate, open_team, progress, arguments).on_baseline(new, baseline)
    if enough and old is not None and not gate.is_sure:
        await _Run(gate, open_team, progress, arguments).on_fresh_puzzles(new, old)
    progress.clear_status()
    if gate.new:
        rows: list[JsonValue] = [row.model_dump(mode="json") for row in gate.new]
        write_results(arguments.output, new.agentbeats_ids, rows)
    return _tell(arguments, result_of(gate, arguments.least_score), progress)


def _of_finished(arguments: CheckArguments) -> CheckResult:
    """The result over results files, or recordings. Raises UsageError, AssessmentError."""
    if arguments.baseline is None or arguments.against is not None:
        raise UsageError("results are compared with results: give --baseline RESULTS, and no --against")
    old, new = teams = read_teams([arguments.baseline, arguments.scenario], expected=read_expected(arguments.expect))
    comparison = compare_teams(teams, arguments.margin / 100)
    if not comparison.pairs:
        raise UsageError(f"the two versions cannot be compared: {comparison.warnings[0]}")
    return result_of_finished(comparison, old, new, arguments.margin / 100, arguments.least_score)


def _tell(arguments: CheckArguments, result: CheckResult, progress: ProgressLog) -> int:
    """Writes the verdict's outputs and lines; returns the exit code."""
    if arguments.report is not None:
        write_text(arguments.report, result.model_dump_json(indent=2) + "\n")
    if arguments.junit is not None:
        write_junit(arguments.junit, result)
    if arguments.markdown is not None:
        write_markdown(arguments.markdown, result)
    if arguments.as_json:
        typer.echo(result.model_dump_json(indent=2))
    for line, style in lines_of(result):
        progress.log(line, style)
    return result.exit_code


@dataclass(frozen=True, slots=True)
class _Baseline:
    """The rows of a results file with what they played, and the secret from which it follows."""

    rows: Sequence[ResultRow]
    slots: Sequence[Slot]
    secret: str | None

    @classmethod
    def of(cls, path: Path) -> Self:
        """Reads the file. Raises UsageError."""
        rows = [row for row in read_rows(path) if row.detail.trials]
        if not (played := played_in(rows)):
            raise UsageError(f"{path}: it contains no trial to pair with")
        return cls(rows, list(played), _secret(rows, path))


@dataclass(frozen=True, slots=True)
class _Run:
    """Plays pairs into a gate until its verdict is sure or the puzzles are used up."""

    gate: Gate
    open_team: OpenTeam
    progress: ProgressLog
    arguments: CheckArguments

    async def on_baseline(self, new: ScenarioFile, baseline: _Baseline) -> None:
        """Plays the puzzles of a results file."""
        rows, old, secret = baseline.rows, baseline.slots, baseline.secret
        runs = max(slot.run for slot in old)
        planned = planned_slots(new, runs)
        self.gate.old += rows
        async with self.open_team(new, runs, secret) as team:
            kept = len(self.gate.new)
            for slots in _batches(random_order(old)):
                row = await team.play(slots)
                self._take(slots, rows, row, planned)
                if self._is_sure():
                    break
            team.keep(self.gate.new[kept:], self.arguments.output)

    async def on_fresh_puzzles(self, new: ScenarioFile, old: ScenarioFile) -> None:
        """Plays both versions on puzzles that neither has seen, in turns, in random order."""
        tasks = len(tasks_of(new))
        runs = max(1, min(MAX_RUNS, MAX_TRIALS // tasks, -(-self.arguments.most_pairs // tasks)))
        planned = planned_slots(new, runs)
        slots = random_order(planned.values())
        secret, draw = secrets.token_hex(SECRET_BYTES), random.SystemRandom()
        async with AsyncExitStack() as stack:
            teams = [await stack.enter_async_context(self.open_team(each, runs, secret)) for each in (old, new)]
            kept = len(self.gate.new)
            for batch in _batches(slots[: self.arguments.most_pairs]):
                rows: dict[int, ResultRow] = {}
                for number in draw.sample(range(2), 2):
                    rows[number] = await teams[number].play(batch)
                self.gate.old.append(rows[0])
                self._take(batch, [rows[0]], rows[1], planned)
                if self._is_sure():
                    break
            teams[1].keep(self.gate.new[kept:], self.arguments.output)

    def _take(
        self, slots: Sequence[Slot], old: Sequence[ResultRow], new: ResultRow, planned: Mapping[str, Slot]
    ) -> None:
        """Adds the pairs of these slots. Raises UsageError if they cannot be paired."""
        pairs = paired(slots, played_in(old), {**forfeited_in(new, planned), **played_in([new])})
        if reasons := list(refusals(old, [new], pairs)):
            raise UsageError(f"the two versions cannot be compared: {'; '.join(reasons)}")
        self.gate.new.append(new)
        self.gate.add(replace(pair, new=LOST) if pair.is_of_two_puzzles else pair for pair in pairs)

    def _is_sure(self) -> bool:
        gate, bounds = self.gate, self.gate.bounds
        mean = "no pair was judged" if gate.difference is None else f"{100 * gate.difference:+.1f} points"
        shown = f"shown to lie between {100 * bounds.low:+.0f} and {100 * bounds.high:+.0f}"
        self.progress.status(f"{len(gate.pairs)} pairs: {mean}, {shown}")
        return gate.is_sure


def _batches(slots: Sequence[Slot]) -> list[Sequence[Slot]]:
    return [slots[first : first + AT_ONCE] for first in range(0, len(slots), AT_ONCE)]


def _secret(rows: Sequence[ResultRow], baseline: Path) -> str | None:
    """The secret of a baseline's tasks; None if they follow from none. Raises UsageError."""
    commitments = {row.detail.task_secret_sha256 for row in rows}
    if len(commitments) > 1:
        raise UsageError(f"{baseline}: its rows have tasks from different secrets: give the rows of one assessment")
    if commitments == {None}:
        return None
    errors = []
    for row in rows:
        try:
            return revealed_secret(row, baseline.parent)
        except UsageError as error:
            errors.append(error)
    raise errors[0]

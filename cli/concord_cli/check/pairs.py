"""The scores of two versions on the same puzzles, and why rows cannot be paired."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from concord.assessment.result_row import ResultRow
from concord_cli.compare.teams import kind_value, most_observed, ranking_kind


class Slot(NamedTuple):
    """A planned trial: a task, and which run of it."""

    task: str
    run: int


@dataclass(frozen=True, slots=True)
class Played:
    """What a version scored in a slot, from 0 to 1: between `low` and `high`, which differ if nobody judged it.

    `instance`: the digest of the puzzle; None if the trial was lost.
    """

    low: float
    high: float
    instance: str | None


LOST = Played(0.0, 1.0, None)
"""A trial that has no evaluation."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The same puzzle, played by the old and by the new version."""

    slot: Slot
    old: Played
    new: Played

    @property
    def low(self) -> float:
        """The least difference, new minus old."""
        return self.new.low - self.old.high

    @property
    def high(self) -> float:
        """The greatest difference, new minus old."""
        return self.new.high - self.old.low

    @property
    def is_of_two_puzzles(self) -> bool:
        """Whether the versions played different puzzles, as a trial that Concord lost and played again does."""
        return self.new.instance is not None and self.new.instance != self.old.instance

    @property
    def known(self) -> bool:
        """Whether both versions were judged."""
        return self.low == self.high


def forfeited_in(row: ResultRow, planned: Mapping[str, Slot]) -> dict[Slot, Played]:
    """The trials that the participants themselves lost, which score 0. `planned`: the slots by the ids of trials."""
    lost = (each.trial_id for each in row.detail.infrastructure if each.caused_by == "participants" and each.trial_id)
    return {planned[trial]: Played(0.0, 0.0, None) for trial in lost if trial in planned}


def played_in(rows: Iterable[ResultRow]) -> dict[Slot, Played]:
    """The slots that the team itself played, without controls. An unjudged trial scored anything from 0 to 1."""
    return {
        Slot(trial.task_id, trial.run): Played(0.0, 1.0, trial.instance_digest)
        if trial.overall_score is None
        else Played(trial.overall_score, trial.overall_score, trial.instance_digest)
        for row in rows
        for trial in row.detail.trials
        if trial.usable and not trial.is_control
    }


def paired(slots: Iterable[Slot], old: dict[Slot, Played], new: dict[Slot, Played]) -> list[Pair]:
    """The pairs of these slots that the old version played; the new one may have lost some."""
    return [Pair(slot, old[slot], new.get(slot, LOST)) for slot in slots if slot in old]


def random_order(slots: Iterable[Slot]) -> list[Slot]:
    """The slots run by run, those of each run in random order."""
    shuffled = list(slots)
    random.SystemRandom().shuffle(shuffled)
    return sorted(shuffled, key=lambda slot: slot.run)


def refusals(old: Sequence[ResultRow], new: Sequence[ResultRow], pairs: Sequence[Pair]) -> Iterator[str]:
    """Why the rows of two versions cannot be paired: other rules, tasks or puzzles, or calls that only one shows."""
    yield from _other_kinds(old, new)
    other = [pair for pair in pairs if pair.is_of_two_puzzles]
    if len(other) > sum(row.detail.scoring.replayed for row in (*old, *new)):
        yield (
            f"{len(other)} of {len(pairs)} trials played other puzzles than the baseline ({other[0].slot.task}, run "
            f"{other[0].slot.run}): the secret, the number of seats or the generator of the tasks has changed"
        )
    before, now = most_observed(old), most_observed(new)
    if before is not None and now is not None and before != now:
        yield f"the observability of calls differs: {before} before, {now} now"


def _other_kinds(old: Sequence[ResultRow], new: Sequence[ResultRow]) -> Iterator[str]:
    kinds = [{ranking_kind(row) for row in rows} for rows in (old, new)]
    if any(None in each for each in kinds):
        yield "a row states no ranking kind: it was made under older rules"
        return
    for before in kinds[0]:
        for now in kinds[1]:
            if before is not None and now is not None and (fields := before.differing(now)):
                values = (f"{name} ({kind_value(before, name)} before, {kind_value(now, name)} now)" for name in fields)
                yield f"the ranking kinds differ, by: {', '.join(values)}"

"""What changed from one version of a team to the next: its tasks, its causes of lost points, and what it took."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from concord.assessment.cost import Cost
from concord.assessment.result_row import ResultRow
from concord.assessment.verdict import Cause, CauseKind
from concord.assessment.verdict_text import CAUSE_WORDS
from concord_cli.compare.teams import Team


class Change(BaseModel):
    """A part of a comparison of two versions: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TaskChange(Change):
    """The mean scores of a task, from 0 to 100; `difference` is null without a pair that is known."""

    task: str
    old: float
    new: float
    difference: float | None
    pairs: int


class CauseChange(Change):
    """How often a cause of lost points was found in each version, and the trials of each."""

    kind: CauseKind
    agents: list[str]
    part: str | None
    old: int
    new: int

    @property
    def text(self) -> str:
        """`agent/2 told nobody (11 times)`; it holds texts of agents, and is to be made printable."""
        subject = f"{self.part}:" if self.part and not self.agents else " or ".join(self.agents)
        times = self.old or self.new
        deed = " ".join(filter(None, (subject, CAUSE_WORDS[self.kind].deed)))
        return f"{deed} ({'once' if times == 1 else f'{times} times'})"


class Effort(Change):
    """What trials took on average, in each version; null where it is not known."""

    what: str
    unit: str
    old: float | None
    new: float | None

    @property
    def text(self) -> str:
        """`time of a trial: 1.2 s before, 1.35 s now`."""
        return f"{self.what}: {_amount(self.old, self.unit)} before, {_amount(self.new, self.unit)} now"


def _amount(value: float | None, unit: str) -> str:
    return "unknown" if value is None else f"{value:,.3g} {unit}".rstrip()


MAX_CAUSES: Final = 10
"""Causes that came, or went, that a text shows."""


def came_and_went(causes: Sequence[CauseChange]) -> list[tuple[str, Sequence[CauseChange]]]:
    """The causes of one version alone, by heading; at most `MAX_CAUSES` of each."""
    came = [cause for cause in causes if not cause.old][:MAX_CAUSES]
    went = [cause for cause in causes if not cause.new][:MAX_CAUSES]
    return [(heading, found) for heading, found in (("Came", came), ("Went", went)) if found]


def known_efforts(found: Sequence[Effort]) -> list[Effort]:
    """Those that at least one version tells."""
    return [effort for effort in found if effort.old is not None or effort.new is not None]


class _Key(NamedTuple):
    kind: CauseKind
    agents: tuple[str, ...]
    part: str | None


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of rows, with how often each was found."""

    found: Mapping[_Key, int]

    @classmethod
    def of(cls, rows: Iterable[ResultRow], trials: Mapping[str, frozenset[str]] | None = None) -> "Causes":
        """All causes; with `trials`, those found in any of these trials, by assessment."""
        found: Counter[_Key] = Counter()
        for row in rows:
            verdict = row.detail.verdict
            for cause in () if verdict is None else verdict.causes:
                if trials is None or _lies_in(cause, trials.get(row.detail.assessment_id, frozenset())):
                    found[_Key(cause.kind, tuple(cause.agents), cause.part)] += cause.count
        return cls(found)

    def changed_to(self, new: "Causes") -> list[CauseChange]:
        """The causes that came, those that went, and those that stayed, each most frequent first."""
        keys = sorted(
            self.found.keys() | new.found.keys(),
            key=lambda key: (
                key in self.found,
                key in new.found,
                -self.found.get(key, 0) - new.found.get(key, 0),
                (key.kind, key.agents, key.part or ""),
            ),
        )
        return [
            CauseChange(
                kind=key.kind,
                agents=list(key.agents),
                part=key.part,
                old=self.found.get(key, 0),
                new=new.found.get(key, 0),
            )
            for key in keys
        ]


def _lies_in(cause: Cause, trials: frozenset[str]) -> bool:
    """Whether a cause was found in any of these trials; one that names only some of its trials counts."""
    return cause.trials_count > len(cause.trials) or not trials.isdisjoint(cause.trials)


def task_changes(scores: Iterable[tuple[str, float, float, bool]]) -> list[TaskChange]:
    """The tasks of paired scores (task, old, new, and whether both are known), greatest loss first."""
    by_task: defaultdict[str, list[tuple[float, float, bool]]] = defaultdict(list)
    for task, old, new, known in scores:
        by_task[task].append((old, new, known))
    changes = [
        TaskChange(
            task=task,
            old=100 * fmean(old for old, _, _ in found),
            new=100 * fmean(new for _, new, _ in found),
            difference=100 * fmean(both) if (both := [new - old for old, new, known in found if known]) else None,
            pairs=len(found),
        )
        for task, found in by_task.items()
    ]
    return sorted(changes, key=lambda change: (change.difference is None, change.difference or 0.0, change.task))


def efforts(old: Sequence[ResultRow], new: Sequence[ResultRow]) -> list[Effort]:
    """Time of a trial, latency of a call, and what agents claim of their models: calls, tokens and money of a trial."""
    currencies = {each.currency for row in (*old, *new) if (each := row.detail.cost) is not None} - {None}
    [currency] = currencies if len(currencies) == 1 else [""]
    return [
        Effort(what="time of a trial", unit="s", old=_seconds(old), new=_seconds(new)),
        Effort(what="latency of a call", unit="ms", old=_latency(old), new=_latency(new)),
        *(
            Effort(what=f"{what} of a trial (claimed)", unit=unit, old=before, new=after)
            for what, unit, told in (
                ("model calls", "", lambda cost: cost.model_calls),
                ("tokens", "", lambda cost: cost.tokens),
                ("cost", currency or "", lambda cost: cost.money if currency else None),
            )
            for before, after in [(_claimed(old, told), _claimed(new, told))]
            if before is not None or after is not None
        ),
    ]


def _claimed(rows: Sequence[ResultRow], told: Callable[[Cost], float | None]) -> float | None:
    """The mean over trials; None if any row does not know it."""
    figures = [None if row.detail.cost is None else told(row.detail.cost) for row in rows]
    trials = sum(trial.usable and not trial.is_control for row in rows for trial in row.detail.trials)
    known = [each for each in figures if each is not None]
    return sum(known) / trials if trials and known and len(known) == len(figures) else None


def _seconds(rows: Sequence[ResultRow]) -> float | None:
    times = [trial.time_used for row in rows for trial in row.detail.trials if trial.usable]
    return fmean(times) if times else None


def _latency(rows: Sequence[ResultRow]) -> float | None:
    """Over all calls of all rows."""
    known = [(each.avg, each.n) for row in rows if (each := row.detail.latency_metrics).avg is not None]
    calls = sum(n for _, n in known)
    return sum((average or 0.0) * n for average, n in known) / calls if calls else None


class VersionChange(Change):
    """What changed from the first of two teams to the second. Tasks with 0 pairs were compared by their means."""

    tasks: list[TaskChange]
    causes: list[CauseChange]
    efforts: list[Effort]


def change_between(first: Team, second: Team) -> VersionChange:
    """What changed from the first team to the second."""
    shared = sorted(first.scores.keys() & second.scores.keys())
    return VersionChange(
        tasks=sorted((_task_change(task, first, second) for task in shared), key=lambda each: each.difference or 0.0),
        causes=Causes.of(first.rows).changed_to(Causes.of(second.rows)),
        efforts=efforts(first.rows, second.rows),
    )


def _task_change(task: str, first: Team, second: Team) -> TaskChange:
    """Over the puzzles that both played; without any, over all."""
    before, after = first.scores[task], second.scores[task]
    both = before.keys() & after.keys()
    old = fmean(fmean(before[puzzle]) for puzzle in both or before)
    new = fmean(fmean(after[puzzle]) for puzzle in both or after)
    return TaskChange(task=task, old=100 * old, new=100 * new, difference=100 * (new - old), pairs=len(both))

"""The verdict of a row in words: causes with what they cost, changes, and what is unknown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from concord.assessment.verdict import Cause, Change, UnknownKind, Verdict
from concord.assessment.verdict_text import cause_text, change_text, unknown_text
from concord_cli.display_text import on_one_line


@dataclass(frozen=True, slots=True)
class CauseView:
    """A cause in words. `share`: its points in shares of the costliest cause's; `steps`: the ids of those that show it;
    `where`: how often, and in which trials and tasks."""

    subject: str
    text: str
    points: float | None
    cost: str
    where: str
    share: float
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeView:
    """What to do about a cause; or, if it does not repair it, where to look."""

    text: str
    repairs: bool


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The verdict, safe to display. `left_out` counts the causes that the row does not list. `unseen`: those lines of
    `unknown` that are on calls that nobody could observe."""

    causes: list[CauseView]
    left_out: int
    points_left_out: str
    changes: list[ChangeView]
    unknown: list[str]
    unseen: frozenset[str]


def verdict_of(verdict: Verdict, trial_id: str | None) -> VerdictView:
    """The verdict; of one trial, only the causes that name it, and the changes for them."""
    causes = [each for each in verdict.causes if trial_id is None or trial_id in each.trials]
    most = max((each.points or 0.0 for each in causes), default=0.0) or 1.0
    changes = verdict.changes if trial_id is None else _for(verdict.changes, causes)
    return VerdictView(
        causes=[_cause(each, most) for each in causes],
        left_out=verdict.causes_left_out if trial_id is None else 0,
        points_left_out=f"{verdict.points_left_out:.1f}",
        changes=[ChangeView(on_one_line(change_text(each)), each.repairs) for each in changes],
        unknown=[on_one_line(unknown_text(each)) for each in verdict.unknown],
        unseen=frozenset(
            on_one_line(unknown_text(each)) for each in verdict.unknown if each.kind is UnknownKind.NOT_OBSERVED
        ),
    )


def _cause(cause: Cause, most: float) -> CauseView:
    words = cause_text(cause)
    return CauseView(
        subject=on_one_line(words.subject) if words.subject else "",
        text=on_one_line(words.text),
        points=cause.points,
        cost=on_one_line(words.cost),
        where=on_one_line(words.where) if words.where else "",
        share=(cause.points or 0.0) / most,
        steps=tuple(dict.fromkeys(cause.steps)),
    )


def _for(changes: Iterable[Change], causes: Sequence[Cause]) -> list[Change]:
    found = {(each.kind, tuple(each.agents)) for each in causes}
    return [each for each in changes if (each.kind, tuple(each.agents)) in found]

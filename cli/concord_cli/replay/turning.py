"""Whether a change turns a trial: by one replay where the team is deterministic, else by several pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from concord_cli.replay.edits import Edit
from concord_cli.replay.playing import LiveTeam, is_same, played_on
from concord_cli.replay.recorded import Ended, Recorded
from concord_evaluator.statistics import mean_interval


@dataclass(frozen=True, slots=True)
class Turn:
    """What a change did: the mean value of the replays with it and of those without, from 0 to 1.

    `control_is_equal`: whether the replay without the change was the recorded trial again. The team is then taken as
    deterministic, and the one replay with the change proves what it does. `low` and `high`: the interval at 95 % of the
    gain where it is not; None where nothing is to be estimated.
    """

    before: float
    after: float
    control_is_equal: bool
    pairs: int = 1
    low: float | None = None
    high: float | None = None

    @property
    def turned(self) -> bool | None:
        """Whether the change turns what it is about: proven, or beyond the interval; None if that is open."""
        if self.control_is_equal:
            return self.after > self.before
        if self.low is None or self.high is None:
            return None
        return True if self.low > 0 else None if self.high > 0 else False


async def turn_of(
    recorded: Recorded, team: LiveTeam, edits: Sequence[Edit], pairs: int, parts: frozenset[str] = frozenset()
) -> Turn:
    """Replays a trial with and without changes. `parts`: of the answer, whose values count; all without."""
    since = min(each.round for each in edits)
    control = await played_on(recorded, team, since)
    edited = await played_on(recorded, team, since, edits)
    if is_same(control, recorded.ended):
        return Turn(_value(control, parts), _value(edited, parts), control_is_equal=True)
    values = [(_value(control, parts), _value(edited, parts))]
    for _ in range(pairs - 1):
        without = _value(await played_on(recorded, team, since), parts)
        values.append((without, _value(await played_on(recorded, team, since, edits), parts)))
    before, after = (fmean(side) for side in zip(*values, strict=True))
    gains = [new - old for old, new in values]
    interval = mean_interval(gains, [str(pair) for pair in range(len(gains))], scale=(-1.0, 1.0))
    bounds = (None, None) if interval is None else (interval.low, interval.high)
    return Turn(before, after, False, len(values), *bounds)


def _value(ended: Ended, parts: frozenset[str]) -> float:
    """The outcome, or the mean value of some parts."""
    return fmean(ended.grade.parts.get(each, 0.0) for each in parts) if parts else ended.grade.outcome

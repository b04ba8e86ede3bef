"""Skill ladders: teams each of which spoils all that the one above it spoils, and more."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import sqrt
from statistics import fmean, stdev
from typing import ClassVar, Final, NamedTuple

from pydantic import JsonValue

from concord.suite import Draw, Fact, SuiteTask, flooding_messages
from concord_evaluator.information.receipts import economy
from tests.kit.players.minds import Mind
from tests.kit.players.plans import plan_of
from tests.kit.players.play import play
from tests.kit.players.silent import guesses
from tests.kit.players.teams import Distorting, Forgetting, Habits, ScriptedTeam, Telling, Withholding

RUNGS: Final = tuple(tenths / 10 for tenths in range(11))
"""What part of a team's facts, messages or seats is spoiled."""

LADDER_TASKS: Final = 40
"""Tasks of each family on which every ladder is played."""

LEVEL: Final = 0.01
"""A family fails if an outcome rises down a ladder with a one-sided p below this, over all pairs of rungs."""

USUAL_SENTENCES: Final = 5
"""In a brief of so many sentences, the rung of a team that overlooks facts is the part that it overlooks."""

FEWEST_VALUES: Final = 5
"""Fewer differences have no test."""


@dataclass(frozen=True)
class Silent(Habits):
    """Some seats write to nobody."""

    seats: frozenset[str]

    def tells(self, telling: Telling) -> Iterable[Telling]:
        """Nothing from the silent seats."""
        return [] if telling.sender in self.seats else [telling]


@dataclass(frozen=True)
class Talkers(Habits):
    """Some seats also tell all they know to all neighbours, always."""

    seats: frozenset[str]

    def talks(self, seat: str) -> bool:
        """Whether the seat is one of them."""
        return seat in self.seats


class Liar(Distorting):
    """One seat changes each fact in each message with the same probability."""

    def __init__(self, mind: Mind, rate: float) -> None:
        super().__init__(mind.task, rate, mind.luck)
        self.liar = _first_teller(mind.task)

    def tells(self, telling: Telling) -> Iterable[Telling]:
        """What its sender says, unless that is the liar."""
        return super().tells(telling) if telling.sender == self.liar else [telling]


class SoloLead(Forgetting):
    """The seat in the middle, which answers or relays, takes in each fact that it is told less and less often."""

    how: ClassVar = "ignored"

    def __init__(self, mind: Mind, rate: float) -> None:
        super().__init__(mind.task, rate, mind.luck)
        plan = plan_of(mind.task)
        [self.lead] = {plan.route(seat)[-1] for seat in mind.task.seats}

    def tells(self, telling: Telling) -> Iterable[Telling]:
        """All that there is to tell."""
        return (telling,)

    def hears(self, telling: Telling) -> Telling:
        """The telling without what the lead ignores."""
        if telling.receiver != self.lead:
            return telling
        return telling.only(each for each in telling.facts if not self.happens(telling, each))


class Overlooking(Habits):
    """Each seat overlooks facts of its own brief, the more the longer the brief is.

    What is beside the point in a prompt makes language models miss what matters (Shi et al. 2023, arXiv 2302.00093).
    Here each sentence distracts as much as any other.
    """

    def __init__(self, mind: Mind, rate: float) -> None:
        self.mind, self.rate = mind, rate

    def reads(self, seat: str, facts: Sequence[Fact]) -> Iterable[Fact]:
        """The facts that it does not overlook. A higher rate adds to what a lower one spoils."""
        sentences = len(self.mind.setting.briefs[seat])
        missed = 1 - (1 - self.rate) ** (sentences / USUAL_SENTENCES)
        text = f"{self.mind.luck} overlooked {self.mind.task.briefs[seat]} {seat}"
        return [each for each in facts if not Draw(f"{text} {each.id}".encode()).chance(missed)]


class RandomAnswers(Habits):
    """Each seat that answers gives a guess instead with the same probability."""

    def __init__(self, mind: Mind, rate: float) -> None:
        self.mind, self.rate = mind, rate

    def answer(self, seat: str, answer: JsonValue) -> JsonValue:
        """The answer, or what a seat would guess that had read nothing but its own brief."""
        draw = Draw(f"{self.mind.luck} random answer of {seat}: {self.mind.task.briefs[seat]}".encode())
        if not draw.chance(self.rate):
            return answer
        return draw.choice(guesses(self.mind.family))(self.mind.family, self.mind.task, seat, draw)


@dataclass(frozen=True, slots=True)
class Ladder:
    """A way to spoil a team's work more and more."""

    what: str
    """What a rung spoils, for readers of the table."""
    habits: Callable[[Mind, float], Habits]
    costs: bool = True
    """Whether the lowest rung must be credited less than the highest. Else all must be credited the same, and economy
    must fall."""


LADDERS: Final[Mapping[str, Ladder]] = {
    "forgetting": Ladder(
        "Each message leaves out each fact with this probability.",
        lambda mind, rate: Forgetting(mind.task, rate, mind.luck),
    ),
    "distorting": Ladder(
        "Each message states another value of each fact with this probability.",
        lambda mind, rate: Distorting(mind.task, rate, mind.luck),
    ),
    "withholding": Ladder(
        "Each seat tells nobody each fact of its own brief with this probability.",
        lambda mind, rate: Withholding(mind.task, rate, mind.luck),
    ),
    "overlooking": Ladder(
        "Each seat overlooks each fact of its own brief with this probability if the brief has five sentences, and "
        "with a higher one if it has more.",
        Overlooking,
    ),
    "silent seats": Ladder(
        "This part of the seats, rounded down, writes to nobody.",
        lambda mind, rate: Silent(_first_seats(mind.task, rate)),
    ),
    "a liar": Ladder("One seat states another value of each fact, in each message, with this probability.", Liar),
    "a solo lead": Ladder(
        "The seat in the middle, which answers or relays, ignores each fact that it is told with this probability.",
        SoloLead,
    ),
    "random answers": Ladder(
        "Each seat that answers gives a guess instead with this probability. Messages stay as they are.", RandomAnswers
    ),
    "talkers": Ladder(
        "This part of the seats, rounded down, also tells all it knows to all its neighbours in every round.",
        lambda mind, rate: Talkers(_first_seats(mind.task, rate)),
        costs=False,
    ),
}


@dataclass(frozen=True, slots=True)
class Curve:
    """What the rungs of a ladder reach."""

    means: Sequence[float]
    """The mean credited outcomes."""
    economies: Sequence[float]
    """The mean economies, as if each trial had passed."""
    rises: Sequence[tuple[float, float]]
    """Pairs of rungs of which the lower is credited significantly more."""
    accused: int
    """Trials in which an answer is said to hold what nobody told: all that these teams know, they were told."""

    def faults(self, ladder: Ladder, *, tested: bool) -> Iterable[str]:
        """What is wrong with the curve. `tested`: whether there are enough tasks to say what a rung costs."""
        yield from (f"raises the outcome from {high:g} to {low:g}" for high, low in self.rises)
        if ladder.costs:
            if tested and self.means[-1] >= self.means[0]:
                yield "costs nothing"
            return
        if max(self.means) - min(self.means) > 1e-9:
            yield "changes the outcome"
        if any(low > high + 1e-9 for high, low in pairwise(self.economies)) or self.economies[-1] >= self.economies[0]:
            yield "does not lower the economy"


def climbed(minds: Sequence[Mind], name: str, rungs: Sequence[float] = RUNGS) -> Curve:
    """Plays the rungs of a ladder on tasks. All rungs of a task draw alike, so that a lower one spoils more."""
    trials = [_trials(mind, [LADDERS[name].habits(mind, rung) for rung in rungs]) for mind in minds]
    outcomes = [[each.outcome for each in rung] for rung in zip(*trials, strict=True)]
    economies = [fmean(each.economy for each in rung) for rung in zip(*trials, strict=True)]
    accused = sum(each.accused for rungs_of_task in trials for each in rungs_of_task)
    return Curve([fmean(each) for each in outcomes], economies, rises_in(outcomes, rungs), accused)


def rises_in(outcomes: Sequence[Sequence[float]], rungs: Sequence[float]) -> list[tuple[float, float]]:
    """The pairs of rungs of which the lower has the higher outcomes. `outcomes`: of each rung, by task.

    By Student's t test of the differences within the tasks, one-sided, at `LEVEL` divided by the number of pairs in all
    ladders of a family (Bonferroni).
    """
    pairs, found = list(combinations(range(len(rungs)), 2)), list[tuple[float, float]]()
    if len(outcomes[0]) < FEWEST_VALUES:
        return found
    # Here, because every test process imports this module, and SciPy takes as long as all other imports.
    from scipy.stats import t  # type: ignore[import-untyped]

    quantile = float(t.ppf(1 - LEVEL / len(pairs) / len(LADDERS), len(outcomes[0]) - 1))
    for high, low in pairs:
        rises = [after - before for before, after in zip(outcomes[high], outcomes[low], strict=True)]
        if fmean(rises) > quantile * stdev(rises) / sqrt(len(rises)) + 1e-9:
            found.append((rungs[high], rungs[low]))
    return found


class _Trial(NamedTuple):
    """What a team reaches on a rung of one task."""

    outcome: float
    economy: float
    accused: bool


def _trials(mind: Mind, rungs: Sequence[Habits]) -> list[_Trial]:
    """A trial for each rung. Rungs with equal habits have one trial."""
    played = {habits: _played(mind, habits) for habits in dict.fromkeys(rungs)}
    return [played[habits] for habits in rungs]


def _played(mind: Mind, habits: Habits) -> _Trial:
    """A trial without partial results: who is told one cannot answer as if it knew the facts."""
    draw = Draw(f"{mind.task.question} {mind.task.briefs[mind.task.seats[0]]}".encode())
    team = ScriptedTeam(mind, plan_of(mind.task), draw, habits, partial_results=0)
    played = play(mind.family, mind.task, team)
    saved = economy(flooding_messages(mind.task), len(played.rounds.messages))
    return _Trial(played.credit().outcome, saved, bool(played.unexplained()))


def _first_seats(task: SuiteTask, rate: float) -> frozenset[str]:
    """Of `n` seats, the first `rate * n` in a fixed random order."""
    order = Draw(f"order of {task.briefs[task.seats[0]]}".encode()).shuffled(task.seats)
    return frozenset(order[: int(rate * len(order) + 1e-9)])


def _first_teller(task: SuiteTask) -> str:
    """A seat that tells facts of its own, any of them."""
    tellers = sorted({each.sender for each in plan_of(task).sends})
    return Draw(f"liar of {task.briefs[task.seats[0]]}".encode()).choice(tellers)

"""What the gate measures of a family: what pretending teams reach, what a good one needs, and how faults show."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean
from typing import Final

from concord.suite import (
    Bound,
    Draw,
    Fact,
    SuiteTask,
    Topology,
    flooding_messages,
    instance_secret,
    neighbours_in,
)
from concord.suite.value_reader import normalised, values_in
from concord_evaluator.information.receipts import economy, information
from concord_suites.family import TextFamily
from tests.kit.players.calls import play_well
from tests.kit.players.colluding import ANSWERS, COLLUDING, ColludingTeam
from tests.kit.players.faults import FAULTS, NEED_RELAYS, played_with, situation_of
from tests.kit.players.ladders import FEWEST_VALUES, LADDER_TASKS, LADDERS, RUNGS, Curve, climbed
from tests.kit.players.minds import Mind
from tests.kit.players.phrasings import spellings
from tests.kit.players.plans import plan_of
from tests.kit.players.play import Played, Team, play
from tests.kit.players.sharing import SIZES, Shared, faults_in, shared
from tests.kit.players.silent import CONVENTIONS, Guess, guesses
from tests.kit.players.teams import (
    DumpTeam,
    EchoTeam,
    NullTeam,
    ScriptedTeam,
    SilentTeam,
)

ABOVE_CHANCE: Final = 0.05
"""A team without messages may reach so much more than the stated chance."""

SIGNIFICANT: Final = 0.001
"""A pretending team fails the gate below this p."""

FAULTS_FOUND: Final = 0.99
"""The part of the known faults of all families whose cause and seat must be found."""

FAULTS_FOUND_IN_EACH: Final = 0.95
"""The same for each family, of which fewer are known."""

PRETENDED_TASKS: Final = 1_000
"""Tasks of each family on which teams pretend."""

GOOD_TASKS: Final = 20
"""Tasks of each family that good, dumping, faulty and colluding teams play."""

SEATS: Final = 5
NOT_IN_WORDS: Final = frozenset({"wrong result"})
"""Faults that these teams do not put into words: they state a result like a fact, without saying that it is one. The
gate on causes plants them in teams that say so."""

KNOWN: Final = tuple(name for name in FAULTS if name not in NOT_IN_WORDS)
"""The faults that are planted."""

SEATS_WITH_FAULTS: Final = 6
_WITH_RELAYS: Final = (Topology.CHAIN, Topology.TREE, Topology.STAR)


@dataclass(frozen=True, slots=True)
class Pretended:
    """What teams that pretend reach: the highest mean outcome, and the lowest p against the chance and 5 points."""

    outcome: float
    p: float
    accused: int
    """Trials in which an answer is said to hold what nobody told. These teams get nothing but their briefs."""


@dataclass(frozen=True, slots=True)
class Measures:
    """All measures of one family."""

    family: str
    instances: int
    chance: float
    pretended: dict[str, Pretended]
    oracle: float
    """The lowest credited outcome."""
    economy: float
    """The mean economy of a good team."""
    dump: float
    """The lowest credited outcome of a team that tells everything in every round: information is not conduct."""
    dump_economy: float
    shared: Mapping[str, Sequence[Shared]]
    """Trials of honest teams, by their way to share."""
    colluding: dict[str, tuple[float, float, float]]
    """By what teams send that know everything: the mean outcome, the credited one, and the share of facts that their
    messages hold; the last is no bound for answers, but each trial is held to its own."""
    overpaid: Counter[str]
    """Colluding trials with more credit than facts that travelled."""
    messages: float
    """The mean number that a good team sends."""
    fewest: float
    is_fewest: bool
    """Whether it attains the bound wherever that is exact, and never falls below."""
    by_calls: float
    """The lowest credited outcome of a good team by calls."""
    calls: float
    """The mean number of its calls."""
    is_fewest_calls: bool
    """As `is_fewest`, for the fewest calls."""
    found: Counter[str] = field(default_factory=Counter)
    """Faults by name whose cause and seat were found."""
    found_alone: Counter[str] = field(default_factory=Counter)
    """Of these, the ones for which no other seat was named."""
    made: Counter[str] = field(default_factory=Counter)
    confused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Faults by name and the causes found instead."""
    curves: dict[str, Curve] = field(default_factory=dict)

    @property
    def faults(self) -> float:
        """The part of the faults that was found."""
        return self.found.total() / self.made.total() if self.made.total() else 1.0

    def failed(self) -> Iterator[str]:
        """Why the family does not pass the gate. Few tasks say nothing of its faults, and of what distortion costs."""
        for name, each in self.pretended.items():
            if each.p < SIGNIFICANT:
                yield f"{name} teams reach {each.outcome:.2f}, more than chance and 5 points (p = {each.p:.1g})"
        if self.oracle < 1:
            yield f"a good team reaches {self.oracle:.2f}"
        if not self.is_fewest:
            yield "a good team does not attain the fewest messages"
        if self.by_calls < 1:
            yield f"a good team reaches {self.by_calls:.2f} by calls"
        if not self.is_fewest_calls:
            yield "a good team does not attain the fewest calls"
        if self.dump < 1:
            yield f"a team that tells everything is credited {self.dump:.2f}"
        if self.dump_economy >= self.economy:
            yield "a dump of everything is as economical as a good team"
        for name, trials in self.shared.items():
            yield from (f"honest teams ({name}) {fault}" for fault in faults_in(trials, name))
        for name, count in self.overpaid.items():
            yield f"{count} teams that send {name} are credited more than travelled"
        enough = self.instances >= FEWEST_VALUES
        if enough and self.faults < FAULTS_FOUND_IN_EACH:
            yield f"{self.faults:.1%} of the faults are found"
        accused = sum(each.accused for each in self.pretended.values()) + sum(
            each.accused for each in self.curves.values()
        )
        if accused:
            yield f"{accused} honest answers are said to hold what nobody told"
        for name, curve in self.curves.items():
            yield from (f"{name}: more {fault}" for fault in curve.faults(LADDERS[name], tested=enough))


def measured(
    family: TextFamily,
    instances: int = GOOD_TASKS,
    pretended: int = PRETENDED_TASKS,
    ladder_tasks: int = LADDER_TASKS,
    rungs: Sequence[float] = RUNGS,
    sizes: Sequence[int] = SIZES,
    faults: Collection[str] = KNOWN,
    ladders: Collection[str] = LADDERS.keys(),
) -> Measures:
    """Measures a family on tasks of all topologies and difficulties: `pretended` for teams that pretend.

    `sizes`: the seats of honest teams, which play `instances` tasks of each size.
    """
    tasks = [task_of(family, SEATS, number) for number in range(pretended)]
    minds = _minds(family, instances)
    made, found, alone, confused = faults_of(family, instances, faults)
    good = [play(family, mind.task, _good(mind, number)) for number, mind in enumerate(minds)]
    dumps = [
        play(family, mind.task, DumpTeam(mind, plan_of(mind.task), _draw(mind.task, number)))
        for number, mind in enumerate(minds)
    ]
    bounds = [mind.task.fewest_messages for mind in minds]
    sent = [len(each.rounds.messages) for each in good]
    called = [play_well(family, mind.task) for mind in minds]
    colluding = {name: _colluding(minds, name) for name in COLLUDING}
    return Measures(
        family=family.name,
        instances=instances,
        chance=fmean(task.chance for task in tasks),
        pretended={name: _pretended(family, tasks, teams) for name, teams in _pretenders(family).items()},
        oracle=min(each.credit().outcome for each in good),
        economy=fmean(map(_economy, good)),
        dump=min(each.credit().outcome for each in dumps),
        dump_economy=fmean(map(_economy, dumps)),
        shared=shared(family, instances, sizes),
        colluding={name: figures for name, (figures, _) in colluding.items()},
        overpaid=Counter({name: overpaid for name, (_, overpaid) in colluding.items() if overpaid}),
        messages=fmean(sent),
        fewest=fmean(bound.value for bound in bounds),
        is_fewest=all(map(_attains, sent, bounds)),
        by_calls=min(each.credit().outcome for each in called),
        calls=fmean(each.calls for each in called),
        is_fewest_calls=all(_attains(each.calls, each.fewest) for each in called),
        found=found,
        found_alone=alone,
        made=made,
        confused=confused,
        curves={name: climbed(_minds(family, ladder_tasks), name, rungs) for name in ladders},
    )


def _minds(family: TextFamily, count: int) -> list[Mind]:
    return [Mind(family, task_of(family, SEATS, number)) for number in range(count)]


def _economy(played: Played) -> float:
    return economy(flooding_messages(played.task), len(played.rounds.messages))


def _colluding(minds: Sequence[Mind], name: str) -> tuple[tuple[float, float, float], int]:
    """What a kind of collusion reaches, and in how many trials it is credited more than its messages hold.

    An answer may stand for facts whose values it does not hold, so that teams which send answers have no such bound.
    """
    trials = [
        play(mind.family, mind.task, ColludingTeam(mind, _draw(mind.task, number), COLLUDING[name]), 3)
        for number, mind in enumerate(minds)
    ]
    credited, travelled = [each.credit().outcome for each in trials], [_travelled(each) for each in trials]
    if name == ANSWERS:
        travelled = [information(each.task, each.flow(), each.answered) or 0.0 for each in trials]
        return (fmean(each.grade.outcome for each in trials), fmean(credited), fmean(travelled)), 0
    overpaid = sum(credit > bound + 1e-9 for credit, bound in zip(credited, travelled, strict=True))
    return (fmean(each.grade.outcome for each in trials), fmean(credited), fmean(travelled)), overpaid


def _travelled(played: Played) -> float:
    """A bound on credit: the mean over the parts of the share of needed facts whose values, in any spelling, some
    holder's message to another seat holds. The answers of teams that know no more than their briefs tell nothing."""
    texts: dict[str, str] = {}
    for each in played.sent:
        if each.delivered:
            texts[each.sender] = texts.get(each.sender, "") + "\n" + normalised(each.text).casefold()
    facts = {fact.id: fact for fact in played.task.facts}

    def told(fact: Fact) -> bool:
        return any(
            spelling.casefold() in texts.get(holder, "")
            or fact.value.text.casefold() in _values_in(texts.get(holder, ""))
            for holder in fact.holders
            for spelling in spellings(fact.value)
        )

    shares = []
    for part in played.task.parts:
        away = [facts[need] for need in part.needs if part.seat not in facts[need].holders]
        shares.append(fmean([told(fact) for fact in away]) if away else 1.0)
    return fmean(shares)


@lru_cache(maxsize=256)
def _values_in(text: str) -> frozenset[str]:
    return frozenset(each.value.text.casefold() for each in values_in(text))


def _attains(count: int, bound: Bound) -> bool:
    return count == bound.value if bound.exact else count >= bound.value


def task_of(family: TextFamily, seats: int, number: int, topologies: Sequence[Topology] = tuple(Topology)) -> SuiteTask:
    """The task of a number, whose topology and difficulty follow from the number."""
    size = min(max(seats, family.seats[0]), family.seats[-1])
    secret = instance_secret(b"gate", family.name, f"{size} seats", number)
    team = [f"agent/{place}" for place in range(1, size + 1)]
    topology = topologies[number % len(topologies)]
    return family.generate(secret, neighbours_in(topology, team, Draw(secret)), 1 + number % 5)


def faults_of(
    family: TextFamily, instances: int, kinds: Collection[str]
) -> tuple[Counter[str], Counter[str], Counter[str], Counter[tuple[str, str]]]:
    """The faults that were made, found, found at one seat alone, and taken for others."""
    made, found, alone = Counter[str](), Counter[str](), Counter[str]()
    confused = Counter[tuple[str, str]]()
    for number in range(instances):
        for name in kinds:
            topologies = _WITH_RELAYS if name in NEED_RELAYS else tuple(Topology)
            task = task_of(family, SEATS_WITH_FAULTS, number, topologies)
            result = played_with(situation_of(Mind(family, task), _draw(task, number)), name)
            if result is None:
                continue
            fault, played = result
            failures = played.failures()
            made[name] += 1
            if failures and all(each.kind is fault.cause and fault.seat in each.agents for each in failures):
                found[name] += 1
                alone[name] += all(len(each.agents) == 1 for each in failures)
            else:
                causes = {each.kind + ("" if fault.seat in each.agents else " elsewhere") for each in failures}
                confused[name, ", ".join(sorted(causes))] += 1
    return made, found, alone, confused


def _pretenders(family: TextFamily) -> dict[str, Sequence[Callable[[int], Team]]]:
    """The teams that pretend, each for the number of a task."""

    def silent(guess: Guess) -> Callable[[int], Team]:
        return lambda number: SilentTeam(family, guess, f"silent {number}".encode())

    return {
        "null": [lambda _: NullTeam()],
        "echo": [lambda _: EchoTeam()],
        "silent": [silent(guess) for guess in guesses(family)],
        "convention": [silent(guess) for guess in CONVENTIONS],
    }


def _pretended(family: TextFamily, tasks: Sequence[SuiteTask], teams: Sequence[Callable[[int], Team]]) -> Pretended:
    reached = []
    for team in teams:
        trials = [play(family, task, team(number)) for number, task in enumerate(tasks)]
        outcomes = [each.grade.outcome for each in trials]
        excess = [each.grade.outcome - each.task.chance - ABOVE_CHANCE for each in trials]
        accused = sum(bool(each.unexplained()) for each in trials)
        reached.append(Pretended(fmean(outcomes), _p_above_zero(excess), accused))
    return Pretended(
        max(each.outcome for each in reached), min(each.p for each in reached), sum(each.accused for each in reached)
    )


def _p_above_zero(values: Sequence[float]) -> float:
    """The one-sided p of Student's t test that the mean is not above 0."""
    if len(values) < 2 or max(values) - min(values) < 1e-9:
        return float(len(values) < 2 or values[0] <= 0)
    from scipy.stats import ttest_1samp  # type: ignore[import-untyped]

    p: float = ttest_1samp(values, 0, alternative="greater").pvalue
    return p


def _good(mind: Mind, number: int) -> Team:
    return ScriptedTeam(mind, plan_of(mind.task), _draw(mind.task, number))


def _draw(task: SuiteTask, number: int) -> Draw:
    return Draw(f"{number} {task.question} {task.briefs[task.seats[0]]}".encode())

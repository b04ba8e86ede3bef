"""Planted faults of own tasks: each with the agents that are rightly named for it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import TrialOutcome
from concord.trace.report import ReportBatch
from tests.kit.own_tasks.questions import STYLES, Question, question
from tests.kit.own_tasks.teams import SHAPES, CrashError, HangError, Recording, Tree, played, tree_of

_UNKNOWN: Final = ("I do not know that.", "There is nothing about it in my files.", "Sorry, I could not find it out.")
_ASIDES: Final = (
    "",
    "",
    " Platform 7 is closed.",
    " A ticket costs 14 euros.",
    " The harbour office is open from 9 to 5.",
    " Ask again tomorrow if this changes.",
)
_TRANSIENT: Final = 0.2
"""The share of helpers whose first call fails, and is made again."""


@dataclass(frozen=True)
class Planted:
    """A trial with one fault, and the agents that are rightly named for it; none if nobody is at fault."""

    agents: tuple[str, ...]
    task: str
    scorer: dict[str, object]
    target: str
    at_fault: frozenset[str]
    outcome: TrialOutcome
    batches: Sequence[ReportBatch]


@dataclass
class Team:
    """A team with a question whose answer one of its helpers knows."""

    draw: random.Random
    question: Question
    agents: tuple[str, ...]
    tree: Tree
    knower: str
    path: tuple[str, ...]
    """From the first agent to the one that knows."""

    @classmethod
    def drawn(cls, draw: random.Random, *, depth: int = 1) -> "Team":
        """A team of 3 to 8 agents in any shape, in which the path to the knowing one has at least `depth` calls."""
        while True:
            names = [f"agent-{letter}" for letter in "abcdefgh"[: draw.randrange(3, 9)]]
            tree = tree_of(draw.choice(SHAPES), names, draw)
            paths = [path for path in _paths(tree, (names[0],)) if len(path) > depth]
            if paths:
                path = draw.choice(paths)
                return cls(draw, question(draw), tuple(names), tree, path[-1], path)

    def state(self, value: str) -> str:
        """A message that states a value in any style."""
        return self.question.said(value, self.draw.choice(STYLES)) + self.draw.choice(_ASIDES)

    def ask(self, caller: str, callee: str, recording: Recording, work: Callable[[], str]) -> str:
        """A call, which may fail once before it succeeds."""
        words = ("{}", "Please find out: {}", "{} Ask others if need be.")
        request = self.draw.choice(words).format(self.question.text)
        if self.draw.random() < _TRANSIENT:
            _try(lambda: recording.call(caller, callee, request, _busy))
        return recording.call(caller, callee, request, work)


Answers = dict[str, str]
"""What the agents that were asked answered, in their order."""


def _busy() -> str:
    raise CrashError("busy, try again")


def _try(work: Callable[[], str]) -> str:
    try:
        return work()
    except CrashError as error:
        return f"error: {error}"


def _paths(tree: Tree, path: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
    below = [each for callee in tree.get(path[-1], ()) for each in _paths(tree, (*path, callee))]
    return [path, *below]


class Script:
    """How a team plays: every agent asks those below it and passes on what it learns. Faults override single agents."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.holds = {team.knower: team.question.right}
        """What each agent knows by itself."""
        self.says: dict[str, Callable[[str | None], str]] = {}
        """What an agent says, by the value that it knows, in the place of that value."""
        self.asks: Tree = team.tree
        self.copes = team.draw.random() < 0.7
        """Whether agents go on when an agent fails that they asked."""

    def work(self, agent: str, recording: Recording) -> str:
        """An agent's answer."""
        learned = self.holds.get(agent)
        for callee in self.asks.get(agent, ()):
            answer = self.call(agent, callee, recording)
            value = next((each for each in self.team.question.values if self.tells(answer, each)), None)
            learned = value if learned is None else learned
        if agent in self.says:
            return self.says[agent](learned)
        return self.team.draw.choice(_UNKNOWN) if learned is None else self.team.state(learned)

    def call(self, agent: str, callee: str, recording: Recording) -> str:
        def asked() -> str:
            return self.team.ask(agent, callee, recording, lambda: self.work(callee, recording))

        return _try(asked) if self.copes else asked()

    def tells(self, answer: str, value: str) -> bool:
        """Whether an answer states a value in any style."""
        return value in answer or self.team.question.spell(value) in answer

    def planted(self, *at_fault: str) -> Planted:
        """The trial."""
        team = self.team
        outcome, batches = played(
            team.agents[0],
            team.question.text,
            lambda made: self.work(team.agents[0], made),
            team.draw.choice((1, 20, 1000)),
        )
        return Planted(
            team.agents,
            team.question.text,
            team.question.scorer,
            team.question.right,
            frozenset(at_fault),
            outcome,
            batches,
        )


def wrong_helper(draw: random.Random) -> Planted:
    """The helper that should know states a wrong value."""
    team = Team.drawn(draw)
    script = Script(team)
    script.holds[team.knower] = team.question.wrong
    return script.planted(team.knower)


def dropped(draw: random.Random) -> Planted:
    """A coordinator is told the right value, and does not pass it on."""
    team = Team.drawn(draw, depth=2)
    script, middle = Script(team), draw.choice(team.path[1:-1])
    script.says[middle] = lambda _: draw.choice(_UNKNOWN)
    if draw.random() < 0.5:
        script.says[team.agents[0]] = lambda _: team.state(team.question.wrong)
    return script.planted(middle)


def dropped_at_the_end(draw: random.Random) -> Planted:
    """The first agent is told the right value, and says that it does not know."""
    team = Team.drawn(draw)
    script = Script(team)
    script.says[team.agents[0]] = lambda _: draw.choice(_UNKNOWN)
    return script.planted(team.agents[0])


def empty_answer(draw: random.Random) -> Planted:
    """An agent on the way answers nothing."""
    team = Team.drawn(draw)
    script, silent = Script(team), draw.choice(team.path[1:])
    script.says[silent] = lambda _: ""
    return script.planted(silent)


def never_asked(draw: random.Random) -> Planted:
    """An agent on the way is not asked; it, those below it, or who should have asked it, are rightly named."""
    team = Team.drawn(draw)
    script, at = Script(team), draw.randrange(1, len(team.path))
    missed = team.path[at]
    script.asks = {agent: [each for each in asked if each != missed] for agent, asked in team.tree.items()}
    below = {agent for path in _paths(team.tree, (missed,)) for agent in path}
    return script.planted(team.path[at - 1], *below)


def crashed(draw: random.Random) -> Planted:
    """An agent on the way fails."""
    team = Team.drawn(draw)
    script, failing = Script(team), draw.choice(team.path[1:])

    def fail(_: str | None) -> str:
        raise CrashError("KeyError: 'line'")

    script.says[failing] = fail
    return script.planted(failing)


def hanging(draw: random.Random) -> Planted:
    """An agent on the way never answers."""
    team = Team.drawn(draw)
    script, hung = Script(team), draw.choice(team.path[1:])

    def hang(_: str | None) -> str:
        raise HangError

    script.says[hung] = hang
    return script.planted(hung)


def contradicting(draw: random.Random) -> Planted:
    """Two helpers of one agent state different values, and the wrong one is passed on."""
    while True:
        team = Team.drawn(draw)
        parent, siblings = team.path[-2], team.tree[team.path[-2]]
        if len(siblings) > 1:
            break
    liar = draw.choice([each for each in siblings if each != team.knower])
    script = Script(team)
    script.holds[liar] = team.question.wrong
    script.says[parent] = lambda _: team.state(team.question.wrong)
    return script.planted(liar)


def invented(draw: random.Random) -> Planted:
    """The first agent is told the right value, and states another one."""
    team = Team.drawn(draw)
    script = Script(team)
    script.says[team.agents[0]] = lambda _: team.state(team.question.wrong)
    return script.planted(team.agents[0])


def garbled(draw: random.Random) -> Planted:
    """An agent in the middle is told the right value, and passes on another one."""
    team = Team.drawn(draw, depth=2)
    script, middle = Script(team), draw.choice(team.path[1:-1])
    script.says[middle] = lambda learned: team.state(team.question.wrong) if learned else draw.choice(_UNKNOWN)
    return script.planted(middle)


FAULTS: Final[dict[str, Callable[[random.Random], Planted]]] = {
    "wrong helper": wrong_helper,
    "dropped by a coordinator": dropped,
    "dropped by the first agent": dropped_at_the_end,
    "empty answer": empty_answer,
    "never asked": never_asked,
    "crashed": crashed,
    "never answers": hanging,
    "helpers that contradict each other": contradicting,
    "invented by the first agent": invented,
    "garbled on the way": garbled,
}

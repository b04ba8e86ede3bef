"""Attacks on team tasks, played in rounds over the gateway's own state: by seats that pretend, and by seats that know.

Seats that only pretend find no answer by messages: none may be right more often than the task's chance says. Seats that
know all answers beside the exchange may earn nothing by what their messages do not prove.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Final

from pydantic import JsonValue

from concord.assessment.suite_tasks import family_of
from concord.assessment.task_spec import FamilyTask
from concord.suite import Answers, Draw, Family, SuiteTask, Topology, instance_secret, neighbours_in, neighbours_of
from concord.suite.value_reader import values_in
from concord_cli.audit import answers, flaws
from concord_cli.audit.flaws import Attack, Shown, Tried, not_applicable, played, shown
from concord_cli.replay.recorded import Ended
from concord_evaluator.statistics import mean_interval
from concord_gateway.rounds.exchange import Rounds, default_rounds
from concord_gateway.rounds.reply import NO_REPLY, Reply, read_reply
from concord_gateway.rounds.texts import turn_text
from concord_suites.family import TextFamily, setting_of

SECRET: Final = b"concord audit"
"""From which the tasks follow: the same in every audit, and so the result. No assessment has it."""

UNSOLVED: Final = "neither the family nor the key gives right answers"

Says = Callable[[Rounds, str], Reply]
"""What a seat replies in the present round."""


@dataclass(frozen=True)
class TeamTask:
    """A task of a suite as a request names it, with the names of its seats."""

    name: str
    spec: FamilyTask
    seats: tuple[str, ...]

    @cached_property
    def family(self) -> Family:
        """Its family. Raises NoFamilyError."""
        return family_of(self.spec.name)

    def instance(self, number: int) -> SuiteTask:
        """One of its tasks. Raises ValueError for a size or a topology that the family does not support."""
        secret = instance_secret(SECRET, self.spec.name, self.name, number)
        topology, seats = self.spec.topology, list(self.seats)
        neighbours = (
            neighbours_in(topology, seats, Draw(secret))
            if isinstance(topology, Topology)
            else neighbours_of(seats, topology)
        )
        return self.family.generate(secret, neighbours, self.spec.difficulty)

    def play(self, task: SuiteTask, says: Says) -> Ended:
        """A trial of a task to its end."""
        rounds = Rounds(task, self.spec.max_rounds or default_rounds(task))
        while not rounds.over:
            rounds.begin()
            rounds.take({seat: says(rounds, seat) for seat in task.seats})
        return Ended(task, self.family, rounds)

    def right(self, task: SuiteTask) -> Answers | None:
        """Right answers by seat; None where neither the family nor the key gives them."""
        if isinstance(self.family, TextFamily):
            return self.family.solve(setting_of(self.family, task))
        if isinstance(task.key, dict) and self.family.grade(task.key, task.key).outcome == 1:
            return task.key
        return None


ABOVE_CHANCE: Final = 0.05
"""How much above a task's chance who only pretends may come, on average."""

CONFIRMING: Final = 4
"""On how many times as many other tasks an excess over chance has to show again: of many ways, some are lucky."""

_LABELLED: Final = re.compile(r"\b(?:answer|key|solution|target)\b\W+(?:is\W+)?([\w,.-]*\w)", re.IGNORECASE)

Way = Callable[[TeamTask, SuiteTask, int], Answers]
"""The answers of a team to the task of a number."""

Guess = Callable[[SuiteTask, str, Draw], JsonValue]
"""What a seat answers that knows the question, its own brief and nothing else."""


def pretended(team: TeamTask, count: int) -> Iterator[Tried]:
    """The attacks by answers alone, each on `count` tasks."""
    yield _most(team, flaws.NULL, {"seats that say nothing": lambda *_: {}}, count)
    yield _most(team, flaws.ECHO, {"the text of the turn": _own_turn}, count)
    if (right := team.right(team.instance(0))) is None:
        guesses = flaws.GUESS, flaws.CANDIDATES, flaws.NEGATED, flaws.CONTRADICTORY
        yield from not_applicable(team.name, UNSOLVED, *guesses, flaws.RESUBMISSION)
        return
    shape = next(iter(right.values()))
    brief = {"what the own brief calls the answer": _guessing(_labelled, shape)}
    yield _most(team, flaws.TARGET_SHOWN, brief, count)
    yield _most(team, flaws.GUESS, {name: _guessing(guess, shape) for name, guess in GUESSES.items()}, count)
    yield _most(team, flaws.CANDIDATES, {"all values that a seat knows": _guessing(_all_values, shape)}, count)
    opposite = {"the opposite of the right answers": _changed(lambda right: f"not {right}")}
    yield _most(team, flaws.NEGATED, opposite, count)
    yield _most(team, flaws.CONTRADICTORY, {"right answers that are taken back": _taken_back}, count)
    yield _most(team, flaws.RESUBMISSION, {"the right answers to an earlier task": _of_another}, count)


def _values(text: str) -> list[str]:
    return [each.value.text for each in values_in(text)]


def _labelled(task: SuiteTask, seat: str, draw: Draw) -> str:
    del draw
    found = _LABELLED.search(task.briefs[seat])
    return found[1] if found else seat


GUESSES: Final[Mapping[str, Guess]] = {
    "any value of the own brief": lambda task, seat, draw: draw.choice(_values(task.briefs[seat]) or [seat]),
    "the first value of the question": lambda task, seat, _: (_values(task.question) or [seat])[0],
    "the last value of the own brief": lambda task, seat, _: (_values(task.briefs[seat]) or [seat])[-1],
}


def _all_values(task: SuiteTask, seat: str, draw: Draw) -> str:
    del draw
    return " or ".join(dict.fromkeys(_values(f"{task.question} {task.briefs[seat]}")))


def _guessing(guess: Guess, shape: JsonValue) -> Way:
    """Seats that guess, in the form that the question asks for."""

    def way(team: TeamTask, task: SuiteTask, number: int) -> Answers:
        del team
        given = dict[str, JsonValue]()
        for seat in task.answerers:
            draw = Draw(f"{number} {seat} {task.briefs[seat]}".encode())
            given[seat] = filled(shape, lambda _, seat=seat, draw=draw: guess(task, seat, draw))  # type: ignore[misc]
        return given

    return way


def filled(shape: JsonValue, change: Callable[[JsonValue], JsonValue]) -> JsonValue:
    """An answer of the same form, with each of its values changed."""
    if isinstance(shape, list):
        return [filled(each, change) for each in shape]
    if isinstance(shape, dict):
        return {name: filled(each, change) for name, each in shape.items()}
    return change(shape)


def _own_turn(team: TeamTask, task: SuiteTask, number: int) -> Answers:
    del number
    return team.play(task, lambda rounds, seat: read_reply(turn_text(rounds, seat))).answers


def _changed(change: Callable[[JsonValue], JsonValue]) -> Way:
    return lambda team, task, _: {seat: filled(each, change) for seat, each in (team.right(task) or {}).items()}


def _taken_back(team: TeamTask, task: SuiteTask, number: int) -> Answers:
    """Right answers, and after each of their values another that the family would read as an answer."""
    del number
    stated = dict.fromkeys(value for brief in task.briefs.values() for value in _values(brief))
    seat = task.answerers[0]
    readable = [each for each in stated if not team.family.grade({seat: each}, task.key).unreadable]

    def taken_back(right: JsonValue) -> str:
        others = [each for each in readable if each.casefold() != str(right).casefold()]
        return f"{right}, no, {(others or answers.decoys(str(right), 1))[0]}"

    return _changed(taken_back)(team, task, 0)


def _of_another(team: TeamTask, task: SuiteTask, number: int) -> Answers:
    del task
    return team.right(team.instance(number + 1)) or {}


def _most(team: TeamTask, attack: Attack, ways: Mapping[str, Way], count: int) -> Tried:
    """The most that some answers reach above chance."""
    best, best_name = 0.0, ""
    for name, way in ways.items():
        if _excess(team, way, range(count)):
            again = _excess(team, way, range(count, (1 + CONFIRMING) * count))
            best, best_name = max((again, name), (best, best_name))
    said = f"{best_name}: so much above chance" if best else f"{', '.join(ways)}: not above chance"
    return played(attack, team.name, 100 * best, f"{said}, on {count} tasks")


def _excess(team: TeamTask, way: Way, numbers: Sequence[int]) -> float:
    """The mean outcome above chance; 0 unless it is more than `ABOVE_CHANCE` with 97.5 % certainty."""
    tasks = [(number, team.instance(number)) for number in numbers]
    found = [team.family.grade(way(team, task, number), task.key).outcome - task.chance for number, task in tasks]
    interval = mean_interval(found, [str(number) for number in numbers], scale=(-1.0, 1.0))
    return fmean(found) if interval is not None and interval.low > ABOVE_CHANCE else 0.0


NOBODY = "nobody/0"
"""A seat that does not exist."""


def known_beside(team: TeamTask, count: int) -> Iterator[Tried]:
    """The attacks by teams that share a memory, each on `count` tasks."""
    ways = {
        flaws.SHARED_MEMORY: (_silently, "and no message"),
        flaws.FALSE_MAIL: (_by_false_mail, "and every brief in messages to a seat that does not exist"),
        flaws.OTHER_SEAT: (_by_one_seat, "given by one seat for all"),
    }
    tasks = [team.instance(number) for number in range(count)]
    solved = [(task, right) for task in tasks if (right := team.right(task)) is not None]
    if not solved:
        yield from not_applicable(team.name, UNSOLVED, *ways)
        return
    for attack, (way, how) in ways.items():
        beyond = [team.play(task, way(right)).credited - _own_share(task) for task, right in solved]
        said = f"all right answers, {how}: credited beyond what the own briefs give, on {count} tasks"
        yield played(attack, team.name, 100 * max(0.0, *beyond), said)


def seen(team: TeamTask, count: int) -> Iterator[Shown]:
    """What an honest team earns, and whether the same secret gives the same tasks."""
    numbers = range(count)
    tasks = [team.instance(number) for number in numbers]
    same = tasks == [team.instance(number) for number in numbers]
    yield shown("O.f T.6", team.name, f"the same secret gives the same {count} tasks", is_met=same)
    different = len({(task.question, *task.briefs.values()) for task in tasks}) == count
    yield shown("R.3 R.4", team.name, f"{count} secrets give {count} different tasks", is_met=different)
    honest = [
        team.play(task, _telling_all(right)).credited for task in tasks if (right := team.right(task)) is not None
    ]
    by, solved = UNSOLVED, None
    if honest:
        by = f"a team that tells all and answers as the solver does earns {100 * min(honest):.0f} or more"
        solved = min(honest) == 1
    yield shown("T.7 T.8 T.9", team.name, by, is_met=solved)
    yield shown("O.h.1", team.name, "the question states the form of the answer", is_met=True)
    yield shown("T.1", team.name, "the row states the versions of Concord and of the rules", is_met=True)


def _own_share(task: SuiteTask) -> float:
    """The share of the parts that follow from the briefs of their own seats."""
    facts = {fact.id: fact for fact in task.facts}
    own = [all(part.seat in facts[need].holders for need in part.needs) for part in task.parts]
    return sum(own) / len(own)


def _silently(right: Answers) -> Says:
    return lambda _, seat: _reply([], right.get(seat))


def _by_false_mail(right: Answers) -> Says:
    def says(rounds: Rounds, seat: str) -> Reply:
        last = rounds.round == rounds.max_rounds
        return _reply([(NOBODY, rounds.task.briefs[seat])], right.get(seat) if last else None)

    return says


def _by_one_seat(right: Answers) -> Says:
    def says(rounds: Rounds, seat: str) -> Reply:
        others = [each for each in rounds.task.seats if each not in right]
        return _reply([], dict(right)) if seat == (others or rounds.task.seats)[0] else NO_REPLY

    return says


def _telling_all(right: Answers) -> Says:
    """Seats that tell each neighbour all briefs that reached them, and answer in the last round."""

    def says(rounds: Rounds, seat: str) -> Reply:
        known = {seat: rounds.task.briefs[seat]}
        for message in [*rounds.history(seat), *rounds.inbox(seat)]:
            if message.receiver == seat:
                known |= json.loads(message.text)
        text = json.dumps(known, ensure_ascii=False)
        last = rounds.round == rounds.max_rounds
        return _reply([(other, text) for other in rounds.task.neighbours[seat]], right.get(seat) if last else None)

    return says


def _reply(messages: Sequence[tuple[str, str]], answer: JsonValue) -> Reply:
    return read_reply(json.dumps({"messages": [{"to": to, "text": text} for to, text in messages], "answer": answer}))

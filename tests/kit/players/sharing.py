"""What honest ways to share are credited: of all sizes, on all topologies, in all writings, in rounds and by calls."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from concord.suite import Draw, SuiteTask, Topology, instance_secret, neighbours_in
from concord_evaluator.information.flow import flow_of
from concord_evaluator.information.receipts import credit_of
from concord_evaluator.information.turns import Answered
from concord_evaluator.messages import Sent
from concord_suites.family import TextFamily
from tests.kit.players.minds import Mind
from tests.kit.players.play import Played, play
from tests.kit.players.strategies import HONEST, SHORT, suits
from tests.kit.players.writings import WRITINGS

SIZES: Final = (2, 3, 5, 8, 30)
LARGE: Final = 30
"""With so many seats, a tenth of the tasks is played."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A trial of an honest team."""

    seats: int
    topology: Topology
    writing: str
    outcome: float
    in_rounds: float
    """The credited outcome."""
    by_calls: float
    """The same, where each message is the request of a call."""


def shared(family: TextFamily, instances: int, sizes: Sequence[int] = SIZES) -> Mapping[str, Sequence[Shared]]:
    """Trials of each way to share that suits the family: `instances` tasks of each size, on topologies by turns."""
    found = dict[str, list[Shared]]()
    for seats in sizes:
        for number in range(instances if seats < LARGE else -(-instances // 10)):
            mind = Mind(family, _task(family, seats, number))
            for name in HONEST:
                if suits(name, mind):
                    found.setdefault(name, []).append(_trial(mind, name, number))
    return found


def _task(family: TextFamily, seats: int, number: int) -> SuiteTask:
    secret = instance_secret(b"sharing", family.name, f"{seats} seats", number)
    team = [f"agent/{place}" for place in range(1, seats + 1)]
    return family.generate(secret, neighbours_in(_topology(family, seats, number), team, Draw(secret)), 1 + number % 5)


def _topology(family: TextFamily, seats: int, number: int) -> Topology:
    first = Draw(f"topology {family.name} {seats}".encode()).below(len(Topology))
    return tuple(Topology)[(first + number) % len(Topology)]


def _trial(mind: Mind, name: str, number: int) -> Shared:
    task = mind.task
    turn = Draw(f"writing {name} {task.family} {len(task.seats)}".encode()).below(len(WRITINGS)) + number
    writing = list(WRITINGS)[turn % len(WRITINGS)]
    team = HONEST[name](mind, Draw(task.question.encode()), WRITINGS[writing])
    played = play(mind.family, task, team, max_rounds=20 * len(task.seats) + 20)
    return Shared(
        len(task.seats),
        _topology(mind.family, len(task.seats), number),
        writing,
        played.grade.outcome,
        played.credit().outcome,
        credited_by_calls(played),
    )


def credited_by_calls(played: Played) -> float:
    """The credited outcome of a trial whose messages are calls, one after the other, each answered by a word."""
    sent, answered = list(_calls(played)), dict.fromkeys(played.task.answerers, 2 * len(played.sent) + 1)
    flow = flow_of(played.task, played.family, sent, played.answers)
    end = Answered(answered, 2 * len(played.sent) + 1, in_rounds=False)
    return credit_of(played.task, played.grade, flow, end).outcome


def _calls(played: Played) -> Iterator[Sent]:
    for place, each in enumerate(played.sent):
        yield Sent(each.step_id, 2 * place + 1, each.sender, each.receiver, each.text, each.delivered)
        yield Sent(each.step_id, 2 * place + 2, each.receiver, each.sender, "Noted.", each.delivered)


def faults_in(trials: Sequence[Shared], name: str) -> Iterator[str]:
    """What is wrong with the trials of a way to share."""
    if (outcome := fmean(each.outcome for each in trials)) < 1:
        yield f"reach {outcome:.2f}"
    least = min(trials, key=_paid)
    if name not in SHORT and _paid(least) < 1 - 1e-9:
        yield (
            f"are credited {_paid(least):.2f} of {least.outcome:.2f}: {least.seats} seats, {least.topology}, "
            f"{least.writing}"
        )


def _paid(trial: Shared) -> float:
    """The smaller part of its outcome that a trial is credited, in rounds or by calls."""
    return min(trial.in_rounds, trial.by_calls) / trial.outcome if trial.outcome else 1.0


def credited_of(trials: Sequence[Shared]) -> float:
    """The mean credited outcome of trials, in rounds and by calls."""
    return fmean([each.in_rounds for each in trials] + [each.by_calls for each in trials])

"""Teams whose seats know all answers beside the exchange: what their messages do not prove may earn nothing."""

import json
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from concord.suite import Answers, SuiteTask
from concord_cli.audit import flaws
from concord_cli.audit.flaws import Shown, Status, Tried, not_applicable, played
from concord_cli.audit.team import Says, TeamTask
from concord_gateway.rounds.exchange import Rounds
from concord_gateway.rounds.reply import NO_REPLY, Reply, read_reply

NOBODY = "nobody/0"
"""A seat that does not exist."""


def known_beside(team: TeamTask, count: int) -> Iterator[Tried]:
    """The attacks by teams that share a memory, each on `count` tasks."""
    ways = {flaws.SHARED_MEMORY: _silently, flaws.FALSE_MAIL: _by_false_mail, flaws.OTHER_SEAT: _by_one_seat}
    tasks = [team.instance(number) for number in range(count)]
    solved = [(task, right) for task in tasks if (right := team.right(task)) is not None]
    for attack, way in ways.items():
        if not solved:
            yield not_applicable(attack, team.name, "neither the family nor the key gives right answers")
            continue
        beyond = [team.play(task, way(right)).credited - _own_share(task) for task, right in solved]
        shown = f"all right answers, {_SHOWN[attack]}: credited beyond what the own briefs give, on {count} tasks"
        yield played(attack, team.name, 100 * max(0.0, *beyond), shown)


_SHOWN = {
    flaws.SHARED_MEMORY: "and no message",
    flaws.FALSE_MAIL: "and every brief in messages to a seat that does not exist",
    flaws.OTHER_SEAT: "given by one seat for all",
}


def seen(team: TeamTask, count: int) -> Iterator[Shown]:
    """What an honest team earns, and whether the same secret gives the same tasks."""
    numbers = range(count)
    tasks = [team.instance(number) for number in numbers]
    same = tasks == [team.instance(number) for number in numbers]
    for item in ("O.f", "T.6"):
        yield _shown(item, team, f"the same secret gives the same {count} tasks", is_met=same)
    different = len({(task.question, *task.briefs.values()) for task in tasks}) == count
    for item in ("R.3", "R.4"):
        yield _shown(item, team, f"{count} secrets give {count} different tasks", is_met=different)
    honest = [
        team.play(task, _telling_all(right)).credited for task in tasks if (right := team.right(task)) is not None
    ]
    for item in ("T.7", "T.8", "T.9"):
        if honest:
            by = f"a team that tells all and answers as the solver does earns {100 * min(honest):.0f} or more"
            yield _shown(item, team, by, is_met=min(honest) == 1)
        else:
            yield Shown(item, team.name, Status.NOT_KNOWN, "neither the family nor the key gives right answers")
    yield Shown("O.h.1", team.name, Status.MET, "the question states the form of the answer")
    yield Shown("T.1", team.name, Status.MET, "the row states the versions of Concord and of the rules")


def _shown(item: str, team: TeamTask, by: str, *, is_met: bool) -> Shown:
    return Shown(item, team.name, Status.MET if is_met else Status.NOT_MET, by)


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

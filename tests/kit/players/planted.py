"""Single faults planted in all styles and exchanges, and whether their causes are found."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import Final, NamedTuple

from concord.assessment.verdict import Cause, CauseKind
from concord.suite import Draw, Fact, Topology
from concord_evaluator.messages import Sent
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.kit.players.calls import Played as PlayedByCalls
from tests.kit.players.deeds import Aggregated
from tests.kit.players.faults import NEED_RELAYS, Fault, played_with, situation_of
from tests.kit.players.measures import task_of
from tests.kit.players.minds import Mind
from tests.kit.players.plans import Plan
from tests.kit.players.play import Played, play
from tests.kit.players.teams import Habits, ScriptedTeam, Telling
from tests.kit.players.transcript import as_calls
from tests.kit.players.writings import WRITINGS

STYLES: Final = ("prose", "table", "JSON", "numbers in words", "words around")
EXCHANGES: Final = ("rounds", "calls")
SIZES: Final = (6, 3, 8, 5)

FOUND: Final = 0.98
"""The share of the planted faults whose cause must be found, and of those whose seat must be."""

INNOCENT: Final = 0.01
"""The share of trials in which another seat may be named."""

_RESULT: Final = "result so far"
_WITH_RELAYS: Final = (Topology.CHAIN, Topology.TREE, Topology.STAR)
IN_ROUNDS_ONLY: Final[Mapping[str, str]] = {
    "replies unreadable": "a callee's answer has no form that it could miss",
    "truncated": "a call's whole text arrives",
}
"""Kinds that cannot be made by calls, with the reason."""

_ASKED: Final = frozenset({"withheld", "sent in the last round", "sent after the answer"})
"""Kinds that are planted by calls where the others ask. A seat that nobody asks leaves the record of one that waits to
be asked, so that its silence is one kind with that of the seat which did not ask, and its delay with an early answer.
"""


_IN_A_MESSAGE: Final = frozenset(
    {
        CauseKind.MISDIRECTED,
        CauseKind.CHANGED,
        CauseKind.CONTRADICTED,
        CauseKind.INVENTED,
        CauseKind.TRUNCATED,
        CauseKind.TOO_LATE,
    }
)
"""The causes that lie in a message."""


class Planted(NamedTuple):
    """One planted fault, and what the evaluator found."""

    kind: str
    style: str
    exchange: str
    family: str
    number: int
    cause_found: bool
    """Whether every failure has the cause."""
    seat_found: bool
    """Whether every failure names the seat."""
    innocent: bool
    """Whether some failure names another seat."""
    found: str
    step_found: bool
    """Whether every message that is shown is one that the seat changed. Of one that it did not send, the record shows
    none, or what the seat was told, or whom else it told."""
    alarms: str
    """What is said against the team without the fault."""


@dataclass
class StyledTeam(ScriptedTeam):
    """A team that writes in one style."""

    partial_results: float = 0.0
    style: str = STYLES[0]

    def _text(self, telling: Telling) -> str:
        task, habits = self.mind.task, self.habits
        wrong_result = habits.wrong if isinstance(habits, Aggregated) else None
        facts = {fact.id: fact for fact in task.facts}
        labels = [_RESULT if each == wrong_result else label_of(facts[each.id]) for each in telling.facts]
        named = [replace(each, id=label) for each, label in zip(telling.facts, labels, strict=True)]
        return WRITINGS[self.style](task, named)


def label_of(fact: Fact) -> str:
    """What messages call a fact: its id, without its value."""
    return fact.id.replace(fact.value.text, "").strip() or "entry"


def planted_in(family: TextFamily, number: int, kind: str, style: str, exchange: str) -> Planted | None:
    """Plants a fault of a kind; None if it cannot be made, or does not change the outcome."""
    if exchange == "calls" and kind in IN_ROUNDS_ONLY:
        return None
    topologies = _WITH_RELAYS if kind in NEED_RELAYS else tuple(Topology)
    task = task_of(family, SIZES[number % len(SIZES)], number, topologies)
    draw = Draw(f"{number} {kind} {style} {exchange} {task.question}".encode())

    def team(mind: Mind, plan: Plan, draw: Draw, habits: Habits) -> ScriptedTeam:
        return StyledTeam(mind, plan, draw, habits, style=style)

    situation = situation_of(Mind(family, task), draw, label_of)
    planted = played_with(situation, kind, team)
    if planted is None:
        return None
    fault, in_rounds = planted
    asked = kind in _ASKED or draw.chance(0.5)
    honest = play(family, task, team(situation.mind, situation.plan, draw, Habits()), situation.max_rounds)
    played: Played | PlayedByCalls = in_rounds
    twin: Played | PlayedByCalls = honest
    if exchange == "calls":
        played = as_calls(in_rounds, situation.plan, draw, asked=asked)
        twin = as_calls(honest, situation.plan, draw, asked=asked)
    failures = played.failures()
    found = {each.kind + ("" if fault.seat in each.agents else " elsewhere") for each in failures}
    return Planted(
        kind,
        style,
        exchange,
        family.name,
        number,
        cause_found=bool(failures) and all(each.kind is fault.cause for each in failures),
        seat_found=bool(failures) and all(fault.seat in each.agents for each in failures),
        innocent=any(seat != fault.seat for each in failures for seat in each.agents),
        found=", ".join(sorted(found)) or "nothing",
        step_found=bool(failures) and _shows(fault, failures, played.sent, _said(in_rounds) - _said(honest)),
        alarms=", ".join(alarms(twin)),
    )


def _said(played: Played) -> frozenset[tuple[int, str, str, str]]:
    return frozenset((each.round, each.sender, each.receiver, each.text) for each in played.rounds.messages)


def _shows(
    fault: Fault, failures: Sequence[Cause], sent: Sequence[Sent], changed: Collection[tuple[int, str, str, str]]
) -> bool:
    """Whether each failure shows a message that the fault changed, if it changed one, else none but the seat's."""
    texts = [text for _, sender, _, text in changed if sender == fault.seat]
    for each in failures:
        shown = [message for message in sent if message.step_id == each.step_id]
        if fault.cause in _IN_A_MESSAGE:
            is_right = any(one.sender == fault.seat and any(text in one.text for text in texts) for one in shown)
        else:
            is_right = not shown or any(fault.seat in {one.sender, one.receiver} for one in shown)
        if not is_right:
            return False
    return True


def alarms(played: Played | PlayedByCalls) -> list[str]:
    """What is said against a team whose answers are right."""
    failures = [f"{each.kind} {', '.join(each.agents)}" for each in played.failures()]
    unproven = [f"{part} unproven" for part, value in played.credit().parts.items() if value < 1]
    return [*failures, *(f"{each.seat} unexplained" for each in played.unexplained()), *unproven]


def planted_in_family(name: str, tasks: int, kinds: Sequence[str]) -> list[Planted]:
    """All kinds in all styles and exchanges, on so many tasks of a family each. No two kinds share a task."""
    [family] = [each for each in FAMILIES if each.name == name]
    cells = list(product(kinds, STYLES, EXCHANGES, range(tasks)))
    found = [planted_in(family, at, kind, style, exchange) for at, (kind, style, exchange, _) in enumerate(cells)]
    return [each for each in found if each is not None]


def missed(planted: Sequence[Planted]) -> Iterator[str]:
    """What of the goal is missed."""
    for what, share in (
        ("causes", fmean(each.cause_found for each in planted)),
        ("seats", fmean(each.seat_found for each in planted)),
    ):
        if share < FOUND:
            yield f"{share:.2%} of the {what} are found, less than {FOUND:.0%}"
    if (share := fmean(each.innocent for each in planted)) > INNOCENT:
        yield f"innocent seats are named in {share:.2%} of the trials, more than {INNOCENT:.0%}"

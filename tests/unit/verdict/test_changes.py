"""A change is advised only where it repairs the fault: the seats that a cause names do as it says, and all is right."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import JsonValue

from concord.assessment.verdict import Cause, CauseKind, Evidence
from concord.assessment.verdict_text import CAUSE_WORDS, change_text
from concord.suite import Draw, Topology
from concord_evaluator.verdict.verdict import changes_for
from concord_suites import FAMILIES
from tests.kit.players.faults import FAULTS, NEED_RELAYS, Situation, played_with, situation_of
from tests.kit.players.measures import task_of
from tests.kit.players.minds import Mind
from tests.kit.players.network import NETWORK_FAULTS, STYLES, planted, team_of
from tests.kit.players.play import play
from tests.kit.players.teams import Habits, ScriptedTeam, Telling

WITH_RELAYS = (Topology.CHAIN, Topology.STAR, Topology.TREE)
TRIED = FAMILIES[::8]


@dataclass
class Repaired(Habits):
    """The habits of a faulty team, of which some seats do as all others do: they tell and answer what they know."""

    faulty: Habits
    seats: frozenset[str]

    def __post_init__(self) -> None:
        self.told_plainly = self.faulty.told_plainly

    def tells(self, telling: Telling) -> Iterable[Telling]:
        return (telling,) if telling.sender in self.seats else self.faulty.tells(telling)

    def hears(self, telling: Telling) -> Telling:
        return self.faulty.hears(telling) if self.seats.isdisjoint({telling.sender, telling.receiver}) else telling

    def adds(self, number: int) -> Iterable[Telling]:
        return [each for each in self.faulty.adds(number) if each.sender not in self.seats]

    def writes(self, telling: Telling, text: str) -> str:
        return text if telling.sender in self.seats else self.faulty.writes(telling, text)

    def answer_in(self, seat: str, planned: int) -> int | None:
        return planned if seat in self.seats else self.faulty.answer_in(seat, planned)

    def answer(self, seat: str, answer: JsonValue) -> JsonValue:
        return answer if seat in self.seats else self.faulty.answer(seat, answer)

    def turn(self, seat: str) -> Literal["replied", "unreadable", "late", "failed"]:
        return "replied" if seat in self.seats else self.faulty.turn(seat)


def situations(name: str) -> Iterator[Situation]:
    """How good teams play a task of some families, on which a fault can be made."""
    for number, family in enumerate(TRIED):
        topologies = WITH_RELAYS if name in NEED_RELAYS else tuple(Topology)
        yield situation_of(Mind(family, task_of(family, 5, number, topologies)), Draw(f"{name} {number}".encode()))


@cache
def outcomes_after_the_change() -> tuple[Counter[str], Counter[str]]:
    """By kind of cause, how often a fault was planted, and how often all was right once the named seats changed."""
    begun, repaired = Counter[str](), Counter[str]()
    for name in FAULTS:
        for situation in situations(name):
            result = played_with(situation, name)
            if result is None:
                continue
            fault, played = result
            for kind in {each.kind.value for each in played.failures()}:
                named = {seat for each in played.failures() for seat in each.agents}
                better = Repaired(fault.habits, frozenset(named))
                again = ScriptedTeam(situation.mind, situation.plan, situation.draw, better)
                begun[kind] += 1
                repaired[kind] += (
                    play(situation.mind.family, situation.task, again, situation.max_rounds).grade.outcome == 1
                )
    return begun, repaired


OF_SEATS = {kind for kind, words in CAUSE_WORDS.items() if words.repair} - {CauseKind.UNDELIVERED}


def test_an_advised_change_of_the_named_seats_repairs_each_planted_fault() -> None:
    begun, repaired = outcomes_after_the_change()
    assert {kind.value for kind in OF_SEATS} <= begun.keys()
    assert {kind: (repaired[kind], begun[kind]) for kind in OF_SEATS if repaired[kind] < begun[kind]} == {}


def test_the_advised_connection_repairs_each_loss_at_one_that_was_cut() -> None:
    """The twin of a trial with a fault in the network is the same team over the network without it."""
    cuts = 0
    for number, family in enumerate(TRIED):
        team = team_of(family, task_of(family, 5, number, WITH_RELAYS), STYLES[0])
        twin = team.play()
        for fault in NETWORK_FAULTS["cut"](twin, Draw(f"cut {number}".encode())):
            named = {seat for each in planted(fault, team, twin).failures for seat in each.agents}
            if named:
                cuts += 1
                assert (named, twin.grade.outcome) == (set(fault.seats), 1)
                break
    assert cuts > 0


def test_a_cause_that_no_change_is_known_to_repair_says_where_to_look() -> None:
    unknown = Cause(kind=CauseKind.NOT_USED, agents=("ann",), certainty="proven", steps=("0a",))
    [change] = changes_for([unknown])
    assert (change.repairs, change_text(change)) == (False, "ann: look at step 0a")


def test_a_cause_that_quotes_its_step_is_not_repeated_and_one_without_steps_advises_nothing() -> None:
    quoted = Cause(
        kind=CauseKind.WRONG_VALUE,
        agents=("ann",),
        certainty="observed",
        steps=("0a",),
        evidence=(Evidence(text="16:35", step_id="0a"),),
    )
    assert changes_for([quoted, quoted.model_copy(update={"steps": [], "evidence": []})]) == []


def test_an_advised_change_names_the_seat() -> None:
    [change] = changes_for([Cause(kind=CauseKind.NOT_SENT, agents=("ann",), certainty="proven")])
    assert change.repairs
    assert change_text(change) == f"ann: {CAUSE_WORDS[CauseKind.NOT_SENT].repair}"

"""Replays of recorded trials, in this process: what a change turns, and what it proves."""

from dataclasses import dataclass, field

import pytest

from concord.assessment.faults import OnMessages, PlantedFault, Truncate
from concord.suite import Topology
from concord.wire.roster import RosterEntry
from concord_cli.commands.arguments import ReplayArguments
from concord_cli.errors import UsageError
from concord_cli.replay.command import found_by, printable_text
from concord_cli.replay.edits import Edit, edit_at, repairs
from concord_cli.replay.playing import is_same, played_on, turn_of
from concord_cli.replay.recorded import Ended, Recorded, Replies, replies_in
from concord_gateway.rounds.exchange import Rounds, Wire, default_rounds
from concord_gateway.rounds.reply import NO_REPLY
from concord_suites import FAMILIES
from tests.kit.players.measures import task_of
from tests.kit.players.network import SampleTeam

POOL = [family for family in FAMILIES if family.name in {"maximum", "prefix-sums", "route"}]


@dataclass(slots=True)
class Sample:
    """The sample agent in every seat; it plays on in silence in every second trial if it is `moody`."""

    moody: bool = False
    trials: list[Rounds] = field(default_factory=list)

    async def replies(self, rounds: Rounds) -> Replies:
        if all(rounds is not each for each in self.trials):
            self.trials.append(rounds)
        if self.moody and len(self.trials) % 2:
            return dict.fromkeys(rounds.asked, NO_REPLY)
        return SampleTeam().replies(rounds)


def recorded(name: str, *faults: PlantedFault, number: int = 0) -> Recorded:
    """A trial of the sample agent in a chain."""
    [family] = [each for each in FAMILIES if each.name == name]
    task = task_of(family, 5, number, (Topology.CHAIN,))
    rounds = Rounds(task, default_rounds(task), wire=Wire(faults, task.neighbours))
    while not rounds.over:
        rounds.begin()
        rounds.take(SampleTeam().replies(rounds))
    ended = Ended(task, family, rounds, [f"step {place}" for place, _ in enumerate(rounds.messages)])
    seats = [RosterEntry(id=seat, url=f"http://{seat}/") for seat in task.seats]
    return Recorded("trial-1", ended, seats, [replies_in(rounds, at + 1) for at in range(rounds.round)], faults)


@pytest.mark.parametrize("name", [family.name for family in POOL])
async def test_without_a_change_the_rest_of_a_trial_is_as_recorded_from_any_round_on(name: str) -> None:
    trial = recorded(name)
    for since in range(trial.ended.rounds.round + 1):
        assert is_same(await played_on(trial, Sample(), since), trial.ended)


async def test_a_message_that_is_left_out_turns_a_right_outcome_wrong() -> None:
    trial = recorded("prefix-sums")
    turn = await turn_of(trial, Sample(), [edit_at(trial, "step 0", "")], pairs=5)
    assert (turn.before, turn.control_is_equal, turn.pairs) == (1, True, 1)
    assert turn.after < 1
    assert turn.turned is False


@pytest.mark.parametrize("name", [family.name for family in POOL])
@pytest.mark.parametrize("kind", ["drop", "garble", "truncate"])
async def test_the_repair_of_each_cause_of_a_planted_fault_turns_what_it_cost(name: str, kind: str) -> None:
    task = recorded(name).ended.task
    [end, _] = [seat for seat, others in task.neighbours.items() if len(others) == 1]
    fault: PlantedFault = (
        Truncate(kind="truncate", sender=end, characters=60)
        if kind == "truncate"
        else OnMessages.model_validate({"kind": kind, "sender": end})
    )
    trial = recorded(name, fault)
    found = repairs(trial.ended)
    for repair in found:
        turn = await turn_of(trial, Sample(), repair.edits, pairs=5, parts=repair.parts)
        assert turn.control_is_equal
        assert turn.turned, (fault, repair)
    assert found or trial.ended.grade.outcome == 1


async def test_a_team_that_does_not_do_the_same_twice_gets_pairs_and_an_interval() -> None:
    trial = recorded("prefix-sums", OnMessages(kind="drop", sender="agent/1"))
    [first, *_] = repairs(trial.ended)
    turn = await turn_of(trial, Sample(moody=True), first.edits, pairs=4)
    assert (turn.control_is_equal, turn.pairs) == (False, 4)
    assert turn.low is not None
    assert turn.high is not None
    assert turn.low <= turn.after - turn.before <= turn.high


async def test_a_seat_does_not_learn_what_arrived_in_its_name() -> None:
    trial = recorded("maximum")
    sender, receiver = trial.ended.rounds.messages[0].sender, trial.ended.rounds.messages[0].receiver
    ended = await played_on(trial, Sample(), 1, [Edit(1, sender, receiver, "The moon is made of cheese.")])
    assert any("cheese" in each.text for each in ended.rounds.inbox(receiver) + ended.rounds.history(receiver))
    assert all("cheese" not in each.text for each in ended.rounds.history(sender))


async def test_causes_in_an_answer_itself_are_named_and_not_replayed() -> None:
    trial = recorded("maximum")
    [answering] = trial.ended.answers
    trial.ended.rounds.answers[answering] = "1"
    del trial.ended.__dict__["answers"]
    found = await found_by(trial, Sample(), ReplayArguments(bundle=None, agent=[], causes=True))  # type: ignore[arg-type]
    assert found == []
    assert f"in a seat's own answer: not_used {answering}" in printable_text(trial, found)


def test_an_unknown_step_is_refused() -> None:
    with pytest.raises(UsageError, match="has no message 'step 99'"):
        edit_at(recorded("maximum"), "step 99", "")

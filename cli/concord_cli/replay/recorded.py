"""A trial in rounds as its bundle records it: the task, what each seat replied in each round, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from concord.assessment.faults import PlantedFault
from concord.assessment.results import TurnRecord
from concord.assessment.suite_tasks import NoFamilyError, family_of, instance_of
from concord.assessment.verdict import Cause
from concord.bundle import Contents
from concord.suite import Family, Grade, SuiteTask
from concord.wire.roster import Roster, RosterEntry
from concord_cli.errors import UsageError
from concord_evaluator.information.exchanges import by_rounds
from concord_evaluator.information.flow import Flow, flow_of
from concord_evaluator.information.part_causes import failures_of
from concord_evaluator.information.receipts import credit_of
from concord_evaluator.information.turns import Answered, Turns
from concord_evaluator.messages import Sent
from concord_gateway.rounds.exchange import Rounds, SeatMessage
from concord_gateway.rounds.reply import Outgoing, Reply
from concord_gateway.rounds.texts import answer_text

Replies = Mapping[str, Reply | TurnRecord]


@dataclass(frozen=True)
class Ended:
    """A trial that has ended, with what the evaluator finds in it."""

    task: SuiteTask
    family: Family
    rounds: Rounds
    step_ids: Sequence[str] = ()
    """Of its messages; without them, messages are numbered."""

    @cached_property
    def answers(self) -> dict[str, str]:
        """The last answers, by seat."""
        return {seat: answer_text(answer) for seat, answer in self.rounds.answers.items()}

    @cached_property
    def grade(self) -> Grade:
        """The grade of the answers."""
        return self.family.grade(self.answers, self.task.key)

    @cached_property
    def flow(self) -> Flow:
        """The flow of facts through its messages."""
        return flow_of(self.task, self.family, list(map(self._sent, range(len(self.rounds.messages)))), self.answers)

    @cached_property
    def failures(self) -> Sequence[Cause]:
        """Why parts are wrong."""
        turns = Turns(*(self._turns(state) for state in ("unreadable", "late", "failed")))
        return failures_of(self.task, self.family, self.answers, self.flow, self._answered, turns)

    @cached_property
    def credited(self) -> float:
        """The outcome as far as the messages prove it."""
        return credit_of(self.task, self.grade, self.flow, self._answered).outcome

    @property
    def _answered(self) -> Answered:
        return Answered(self.rounds.answered_in, self.rounds.round)

    def place_of(self, step_id: str | None) -> int | None:
        """Which of its messages a step is; None if it is none."""
        return None if step_id is None or step_id not in self.step_ids else list(self.step_ids).index(step_id)

    def _sent(self, place: int) -> Sent:
        each = self.rounds.messages[place]
        step_id = self.step_ids[place] if place < len(self.step_ids) else str(place)
        delivered = each.error is None and each.round < self.rounds.round
        return Sent(step_id, each.round, each.sender, each.receiver, each.text, delivered, each.cut_from is not None)

    def _turns(self, state: str) -> dict[str, frozenset[int]]:
        turns = [turn for turn in self.rounds.turns if turn.state == state]
        return {turn.seat: frozenset(each.round for each in turns if each.seat == turn.seat) for turn in turns}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded trial. `replies`: of each round, as they arrived."""

    trial_id: str
    ended: Ended
    seats: Sequence[RosterEntry]
    replies: Sequence[Replies]
    faults: Sequence[PlantedFault]


def recorded_trial(contents: Contents, trial_id: str | None) -> Recorded:
    """The trial of that id; without one, the first team task in rounds whose answer is not right, or else the first.

    Raises UsageError.
    """
    of_teams = [trial for trial in contents.plan.trials if contents.plan.task(trial.task_id).family is not None]
    wanted = [each.trial_id for each in of_teams if trial_id in {None, each.trial_id}]
    found = [each for name in wanted if (each := _recorded(contents, name)) is not None]
    if not found:
        named = "trial of a team task" if trial_id is None else f"team task {trial_id!r}"
        raise UsageError(f"the bundle has no {named} that was played in rounds, and not as a control")
    return next((each for each in found if each.ended.grade.outcome < 1), found[0])


def _recorded(contents: Contents, trial_id: str) -> Recorded | None:
    plan, stored = contents.plan, contents.trials[trial_id]
    trial = plan.trial(trial_id)
    spec, outcome = plan.task(trial.task_id).family, stored.outcome
    if spec is None or spec.control is not None or outcome is None or outcome.rounds is None:
        return None
    try:
        task, family = instance_of(plan, trial), family_of(spec.name)
    except (NoFamilyError, ValueError) as error:
        raise UsageError(f"{trial_id}: {error}") from error
    seats, record = plan.agents(trial.task_id), outcome.rounds
    sent = by_rounds([batch for batch in stored.batches if batch.is_observed], Roster(seats), record).messages
    rounds = Rounds(task, record.max_rounds, round=record.rounds)
    rounds.messages = [_message(each, record.rounds) for each in sent]
    rounds.turns = list(record.turns)
    rounds.answers = {each.agent: each.text for each in outcome.answers if each.text is not None}
    rounds.answered_in = dict(record.answered_in)
    ended = Ended(task, family, rounds, [each.step_id for each in sent])
    replies = [replies_in(rounds, number) for number in range(1, record.rounds + 1)]
    return Recorded(trial_id, ended, seats, replies, plan.config.faults)


def _message(each: Sent, end: int) -> SeatMessage:
    error = None if each.delivered or each.time >= end else "it was not delivered"
    cut_from = len(each.text) if each.is_cut else None
    return SeatMessage(each.time, each.sender, each.receiver, each.text, error, cut_from)


def replies_in(rounds: Rounds, number: int) -> Replies:
    """The replies of a round."""
    failed = {turn.seat: turn for turn in rounds.turns if turn.round == number and turn.state in {"late", "failed"}}
    return {seat: failed.get(seat) or _reply(rounds, seat, number) for seat in rounds.task.seats}


def _reply(rounds: Rounds, seat: str, number: int) -> Reply:
    own = [each for each in rounds.messages if (each.round, each.sender) == (number, seat)]
    answer = rounds.answers.get(seat) if rounds.answered_in.get(seat) == number else None
    return Reply(tuple(Outgoing((each.receiver,), each.text) for each in own), answer, readable=True, prose="")

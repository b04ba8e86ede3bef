"""Plays a task in rounds with a scripted team, over the gateway's own state of rounds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from concord.assessment.results import TurnRecord
from concord.assessment.verdict import Cause
from concord.suite import Grade, SuiteTask
from concord_evaluator.information.flow import Flow, flow_of
from concord_evaluator.information.part_causes import failures_of
from concord_evaluator.information.receipts import Credit, Unexplained, credit_of, unexplained_in
from concord_evaluator.information.turns import Answered, Turns
from concord_evaluator.messages import Sent
from concord_gateway.rounds.exchange import Rounds, default_rounds
from concord_gateway.rounds.reply import Reply, read_reply
from concord_suites.family import TextFamily


class Team(Protocol):
    """Replies for all seats of a team."""

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """The reply of each seat in the current round."""


@dataclass(frozen=True, slots=True)
class Played:
    """A trial that has ended."""

    family: TextFamily
    task: SuiteTask
    rounds: Rounds

    @property
    def answers(self) -> dict[str, str]:
        """The last answers, as the evaluator gets them: as text."""
        return {
            seat: answer if isinstance(answer, str) else json.dumps(answer)
            for seat, answer in self.rounds.answers.items()
        }

    @property
    def grade(self) -> Grade:
        """The grade of the answers."""
        return self.family.grade(self.answers, self.task.key)

    @property
    def sent(self) -> list[Sent]:
        """The messages, as the evaluator sees them."""
        return [
            Sent(
                step_id=str(place),
                time=each.round,
                sender=each.sender,
                receiver=each.receiver,
                text=each.text,
                delivered=each.error is None and each.round < self.rounds.round,
                is_cut=each.cut_from is not None,
            )
            for place, each in enumerate(self.rounds.messages)
        ]

    def flow(self) -> Flow:
        """The flow of facts through the messages."""
        return flow_of(self.task, self.family, self.sent, self.answers)

    def failures(self) -> list[Cause]:
        """Why parts are wrong, as the evaluator finds it."""
        turns = Turns(*(self._turns(state) for state in ("unreadable", "late", "failed")))
        return failures_of(self.task, self.family, self.answers, self.flow(), self.answered, turns)

    def unexplained(self) -> list[Unexplained]:
        """Knowledge in answers that nothing told their seats."""
        return unexplained_in(self.task, self.answers, self.sent)

    @property
    def answered(self) -> Answered:
        """When the seats gave their last answers."""
        return Answered(self.rounds.answered_in, self.rounds.round)

    def credit(self) -> Credit:
        """The answers as far as the messages prove them."""
        return credit_of(self.task, self.grade, self.flow(), self.answered)

    def _turns(self, state: str) -> dict[str, frozenset[int]]:
        seats = {turn.seat for turn in self.rounds.turns}
        return {
            seat: frozenset(turn.round for turn in self.rounds.turns if turn.seat == seat and turn.state == state)
            for seat in seats
        }


def play(family: TextFamily, task: SuiteTask, team: Team, max_rounds: int | None = None) -> Played:
    """Plays a task to its end."""
    rounds = Rounds(task, max_rounds or default_rounds(task))
    while not rounds.over:
        rounds.begin()
        rounds.take(team.replies(rounds))
    return Played(family, task, rounds)


def reply(messages: Sequence[tuple[str, str]], answer: JsonValue = None) -> Reply:
    """A reply in the form that is asked for. `messages`: receiver and text of each."""
    return read_reply(json.dumps({"messages": [{"to": to, "text": text} for to, text in messages], "answer": answer}))

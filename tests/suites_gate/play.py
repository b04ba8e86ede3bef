"""Plays a task in rounds with a scripted team, over the gateway's own state of rounds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from pydantic import JsonValue

from concord.assessment.results import Grading
from concord.suite import Grade, SuiteTask
from concord_evaluator.information.failures import Failure, failures_of
from concord_evaluator.information.flow import Flow, Sent, flow_of
from concord_evaluator.information.losses import Answered, Turns
from concord_evaluator.information.unexplained import Unexplained, unexplained_in
from concord_evaluator.information.values import values_of
from concord_evaluator.scoring import conduct_of, score_outcome
from concord_evaluator.trace.gateway_calls import CarriedCalls, Delivery
from concord_gateway.rounds.reply import Reply, read_reply
from concord_gateway.rounds.state import Rounds, Turn, default_rounds
from concord_suites.family import TextFamily

_START: Final = datetime(2031, 1, 1, tzinfo=UTC)


class Team(Protocol):
    """Replies for all seats of a team."""

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | Turn]:
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
            )
            for place, each in enumerate(self.rounds.messages)
        ]

    def flow(self) -> Flow:
        """The flow of facts through the messages."""
        return flow_of(self.task, self.family, self.sent)

    def failures(self) -> list[Failure]:
        """Why parts are wrong, as the evaluator finds it."""
        answered = Answered(self.rounds.answered_in, self.rounds.round)
        turns = Turns(*(self._turns(state) for state in ("unreadable", "late", "failed")))
        return failures_of(self.task, self.family, self.answers, self.flow(), answered, turns)

    def unexplained(self) -> list[Unexplained]:
        """Knowledge in answers that nothing told their seats."""
        return unexplained_in(self.task, self.answers, self.sent)

    def score(self) -> float:
        """Outcome times conduct."""
        calls = CarriedCalls({each.step_id: not each.delivered for each in self.sent}, self._deliveries(), 0)
        answers, figures = list(self.answers.values()), values_of(self.task, self.family)
        conduct = conduct_of(calls, self.task.seats, "", self.task.seats, answers, figures)
        return (
            score_outcome(Grading(value=self.grade.outcome, source="code", scorer=None, reason=None), conduct).overall
            or 0.0
        )

    def _deliveries(self) -> Sequence[Delivery]:
        return [
            Delivery(at, at, each.step_id, False, each.sender, each.receiver, (each.text,))
            for each in self.sent
            if each.delivered
            for at in [_START + timedelta(seconds=each.time)]
        ]

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

"""The text that a seat gets in each round: everything it needs, so that an agent without a memory can take part."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pydantic import JsonValue

from concord.json_text import NoJsonError, json_in
from concord.suite import SuiteTask
from concord.trust.redaction import redact
from concord_gateway.rounds.exchange import Rounds, SeatMessage

MAX_HISTORY: Final = 200_000
"""Characters of earlier messages in one text; the oldest are left out beyond."""

FORM: Final = """Reply with one JSON object and nothing else:
{"messages": %s, "answer": null}
"to" is a name, a list of names, or "all" for everybody you may write to; leave "messages" empty to send none. \
"answer" stays null until you can answer; your last answer counts."""


def turn_text(rounds: Rounds, seat: str) -> str:
    """The message of the current round to a seat."""
    task = rounds.task
    last = rounds.round == rounds.max_rounds
    must = "You have to answer." if seat in task.answerers else "You need not answer yourself."
    sections = [
        f"You are {seat}, one of {len(task.seats)} seats of a team. This is round {rounds.round} of at most "
        f"{rounds.max_rounds}. Messages that you send now arrive at the beginning of the next round.",
        f"What only you know:\n{task.briefs[seat]}",
        f"The question to the team:\n{task.question}\n{must}",
        f"You may write to: {', '.join(task.neighbours[seat]) or 'nobody'}.",
        receipts_text(task.message_limit),
    ]
    if history := _history(rounds, seat):
        sections.append(f"Earlier messages:\n{history}")
    if inbox := rounds.inbox(seat):
        sections.append("New messages:\n" + "\n".join(_received(each) for each in inbox))
    if notices := rounds.notices(seat):
        sections.append("\n".join(notices))
    if last:
        sections.append("This is the last round: messages that you send now arrive nowhere.")
    return "\n\n".join([*sections, FORM % _example(task.neighbours[seat])])


def receipts_text(limit: int) -> str:
    """What the seats have to know about the credit for answers, and the limit of a message (characters)."""
    return (
        "An answer counts as far as the messages which its seat got state what it rests on; messages that pass beside "
        "this exchange tell nothing. So state facts with their values, even where you only agree, and write "
        f'"the answer is" before an answer that you pass on. A message may have {limit:,} characters.'
    )


def _example(neighbours: Sequence[str]) -> str:
    """A list with one message to a seat that exists: models copy names from examples."""
    return json.dumps([{"to": name, "text": "..."} for name in neighbours[:1]], ensure_ascii=False)


def _history(rounds: Rounds, seat: str) -> str:
    lines = [_sent(each) if each.sender == seat else _received(each) for each in rounds.history(seat)]
    size, kept = 0, list[str]()
    for line in reversed(lines):
        size += len(line)
        if size > MAX_HISTORY:
            kept.append(f"({len(lines) - len(kept)} older messages are left out)")
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def _sent(message: SeatMessage) -> str:
    fate = f" (not delivered: {message.error})" if message.error is not None else ""
    return f"[round {message.round}] you to {message.receiver}{fate}: {message.text}"


def _received(message: SeatMessage) -> str:
    return f"[round {message.round}] {message.sender} to you: {message.text}"


# The solo control: one agent gets all briefs of a task, and answers alone.

SEVERAL = (
    'Answer for all of them: "answer" is a JSON object from the name of each seat to the answer that it would give.'
)


def solo_task(task: SuiteTask, agent: str) -> SuiteTask:
    """A task as one agent gets it: alone, with all briefs."""
    briefs = "\n\n".join(f"{seat} knows:\n{brief}" for seat, brief in task.briefs.items())
    question = task.question if len(task.answerers) == 1 else f"{task.question} {SEVERAL}"
    return replace(
        task,
        neighbours={agent: ()},
        briefs={agent: f"You have the briefs of all {len(task.seats)} seats.\n\n{briefs}"},
        question=question,
        answerers=(agent,),
    )


def answers_by_seat(task: SuiteTask, answer: JsonValue) -> Mapping[str, JsonValue]:
    """The answers of the task's own seats in the answer of one agent that was alone."""
    if len(task.answerers) == 1:
        return {task.answerers[0]: answer}
    if isinstance(answer, str):
        try:
            answer = json_in(answer)
        except NoJsonError:
            return {}
    if not isinstance(answer, dict):
        return {}
    return {seat: answer[seat] for seat in task.answerers if answer.get(seat) is not None}


def answer_text(answer: JsonValue) -> str:
    """An answer as the row holds it, without secrets."""
    return redact(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))

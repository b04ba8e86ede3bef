"""What the agents of a trial told each other, in the calls that the gateway observed."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from concord.trace.report import ReportBatch
from concord.trace.timing import MAX_QUOTED
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.messages import Sent, observed_requests
from concord_evaluator.own_tasks.reference import TextValue, ValueKind, figures_in, names_in, spelled, tokens_in
from concord_evaluator.scorers.text_scorers import contains, plain

# The calls of a trial as the gateway observed them, and the messages in them in time order.

_GRACE: Final = timedelta(milliseconds=100)
"""The gateway notes the end of a call a moment after its caller got the answer, which may act on it at once."""


def observed_calls(batches: Iterable[ReportBatch], roster: Roster) -> list[Sent]:
    """The calls that the gateway made or carried, each once, by their beginning: their requests."""
    return sorted(observed_requests(batches, roster), key=lambda each: (each.at, each.ended, each.step_id))


def messages_of(requests: Sequence[Sent]) -> list[Sent]:
    """The requests that reached their receivers and the answers to them, in time order. The request of a failed call
    counts: its callee may have read it.

    What an agent says in the moment before the end of a call of its own is noted comes after the answer to that call.
    """
    acts = defaultdict[str, list[datetime]](list)
    for each in requests:
        acts[each.sender].append(each.at)
        acts[each.receiver].append(each.ended)
    ordered = {agent: sorted(times) for agent, times in acts.items()}
    return sorted((message for each in requests for message in _messages(each, ordered[each.sender])), key=_order)


def _order(message: Sent) -> tuple[datetime, int, datetime, str]:
    moved = message.is_answer and message.at < message.ended
    return message.at, 0 if moved else 2 if message.is_answer else 1, message.ended, message.step_id


def _messages(request: Sent, acts: Sequence[datetime]) -> Iterator[Sent]:
    """The messages of a call. `acts`: when its caller sent anything, sorted."""
    if not request.is_refused:
        yield request
    if request.answer is not None and request.error is None:
        first = bisect_right(acts, max(request.at, request.ended - _GRACE))
        at = min(request.ended, acts[first]) if first < len(acts) else request.ended
        yield replace(request.answer, at=at)


# What the agents of a trial told each other: the observed messages with the values in them, in time order.

MAX_TEXT: Final = 500_000
"""Characters of all messages of a trial up to which they are read. In longer ones, nothing is followed."""

MAX_QUOTE: Final = 200
"""Characters of a quote."""


@dataclass(frozen=True)
class Told:
    """A message with the values in it. (No slots: what is read is kept.)"""

    place: int
    message: Sent

    @property
    def sender(self) -> str:
        """Who said it."""
        return self.message.sender

    @property
    def receiver(self) -> str:
        """Who was told."""
        return self.message.receiver

    @cached_property
    def spelled(self) -> str:
        """All that it says, with number words as digits."""
        return spelled(f"{self.message.text}\n{self.message.words}")

    @cached_property
    def values(self) -> frozenset[TextValue]:
        """All readings of its values. Names only from its text."""
        tokens = (*tokens_in(self.spelled), *names_in(self.message.text))
        return frozenset(value for token in tokens for value in token.readings)

    @cached_property
    def figures(self) -> frozenset[str]:
        """The runs of digits in it."""
        return figures_in(self.spelled)

    @cached_property
    def plain(self) -> str:
        """Its text as names are looked for in it."""
        return plain(f"{self.message.text}\n{self.message.words}")

    @property
    def is_whole(self) -> bool:
        """Whether its text is all of the message."""
        return not self.message.words and len(self.message.text) < MAX_QUOTED

    def says(self, value: frozenset[TextValue]) -> bool:
        """Whether it states a value in any of its readings."""
        return bool(value & self.values) or any(
            contains(self.plain, plain(each.text)) for each in value if each.kind is ValueKind.NAME
        )

    def hints_at(self, value: frozenset[TextValue]) -> bool:
        """Whether it states a value, or may state it in a way that is not recognised."""
        names = [word for each in value if each.kind is ValueKind.NAME for word in each.text.split() if len(word) > 3]
        return self.says(value) or not self.is_whole or any(contains(self.plain, word) for word in names)


class ObservedExchange:
    """The messages of one trial, the assessor's included. `prompt`: what every recipient was given.

    Raises ValueError for messages that are too long to be read.
    """

    def __init__(self, requests: Sequence[Sent], prompt: str) -> None:
        messages = messages_of(requests)
        if sum(len(each.text) + len(each.words) for each in messages) > MAX_TEXT:
            raise ValueError(f"the messages have more than {MAX_TEXT:,} characters")
        self.told = tuple(Told(place, message) for place, message in enumerate(messages))
        self.asked = {each.step_id: each.text for each in requests}
        self.prompt_values = frozenset(_values_in(prompt))
        self.prompt_figures = figures_in(spelled(prompt))
        self._prompt = plain(prompt)

    def in_prompt(self, value: frozenset[TextValue]) -> bool:
        """Whether the task states a value itself."""
        return bool(value & self.prompt_values) or any(
            contains(self._prompt, plain(each.text)) for each in value if each.kind is ValueKind.NAME
        )

    def final(self, answerer: str) -> Told | None:
        """The message with an agent's final answer."""
        answers = [each for each in self.told if each.sender == answerer and each.receiver == GREEN_AGENT]
        return answers[-1] if answers else None

    def among_agents(self, before: int) -> Iterator[Told]:
        """The messages from agent to agent before a place."""
        return (each for each in self.told[:before] if GREEN_AGENT not in (each.sender, each.receiver))

    def told_to(self, agent: str, before: int) -> list[Told]:
        """What other agents told an agent before a place."""
        return [each for each in self.among_agents(before) if each.receiver == agent]

    @cached_property
    def lower(self) -> frozenset[str]:
        """The words that somebody writes in lower case, which are no names."""
        return frozenset(word for each in self.told for word in each.message.text.split() if word.islower())

    def is_name(self, text: str) -> bool:
        """Whether nobody writes a name's words in lower case."""
        return not any(word.casefold().strip(".,;:!?") in self.lower for word in text.split())


def quote(text: str, around: Iterable[str]) -> str:
    """The sentence of a text in which any of these stands, or its beginning; at most `MAX_QUOTE` characters."""
    wanted = [each.casefold() for each in around if each]
    lines = [part.strip() for line in text.splitlines() for part in line.replace(". ", ".\n").splitlines()]
    found = next((line for line in lines if any(each in line.casefold() for each in wanted)), None)
    line = found or " ".join(text.split())
    if len(line) <= MAX_QUOTE:
        return line
    at = max((line.casefold().find(each) for each in wanted), default=0)
    start = max(0, min(at - MAX_QUOTE // 2, len(line) - MAX_QUOTE))
    return (
        f"{'…' if start else ''}{line[start : start + MAX_QUOTE].strip()}{'…' if start + MAX_QUOTE < len(line) else ''}"
    )


def _values_in(text: str) -> Iterator[TextValue]:
    return (value for token in (*tokens_in(spelled(text)), *names_in(text)) for value in token.readings)

"""What the agents of a trial told each other: the observed messages with the values in them, in time order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from concord.wire.roster import GREEN_AGENT
from concord_evaluator.own_tasks.observed_calls import Message, ObservedCall, messages_of
from concord_evaluator.own_tasks.values import TextValue, ValueKind, figures_in, names_in, spelled, tokens_in
from concord_evaluator.scorers.wording import contains, plain

MAX_TEXT: Final = 500_000
"""Characters of all messages of a trial up to which they are read. In longer ones, nothing is followed."""

MAX_QUOTE: Final = 200
"""Characters of a quote."""


@dataclass(frozen=True)
class Told:
    """A message with the values in it. (No slots: what is read is kept.)"""

    place: int
    message: Message

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
        said = self.message.said
        return spelled(f"{said.text}\n{said.words}")

    @cached_property
    def values(self) -> frozenset[TextValue]:
        """All readings of its values. Names only from its text."""
        tokens = (*tokens_in(self.spelled), *names_in(self.message.said.text))
        return frozenset(value for token in tokens for value in token.readings)

    @cached_property
    def figures(self) -> frozenset[str]:
        """The runs of digits in it."""
        return figures_in(self.spelled)

    @cached_property
    def plain(self) -> str:
        """Its text as names are looked for in it."""
        return plain(f"{self.message.said.text}\n{self.message.said.words}")

    def says(self, value: frozenset[TextValue]) -> bool:
        """Whether it states a value in any of its readings."""
        return bool(value & self.values) or any(
            contains(self.plain, plain(each.text)) for each in value if each.kind is ValueKind.NAME
        )

    def hints_at(self, value: frozenset[TextValue]) -> bool:
        """Whether it states a value, or may state it in a way that is not recognised."""
        names = [word for each in value if each.kind is ValueKind.NAME for word in each.text.split() if len(word) > 3]
        return self.says(value) or not self.message.said.whole or any(contains(self.plain, word) for word in names)


class Exchange:
    """The messages of one trial, the assessor's included. `prompt`: what every recipient was given.

    Raises ValueError for messages that are too long to be read.
    """

    def __init__(self, calls: Sequence[ObservedCall], prompt: str) -> None:
        messages = messages_of(calls)
        if sum(len(each.said.text) + len(each.said.words) for each in messages) > MAX_TEXT:
            raise ValueError(f"the messages have more than {MAX_TEXT:,} characters")
        self.told = tuple(Told(place, message) for place, message in enumerate(messages))
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
        return frozenset(word for each in self.told for word in each.message.said.text.split() if word.islower())

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

"""What agents were asked and answered according to spans: an agent's own span often leaves that to those around it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from concord.trace.otlp import Act, Span, SpanTree, TeamReading
from concord.trace.otlp.content import NOTHING, Content
from concord.trace.otlp.frameworks.autogen import Delivered, messages_of
from concord_evaluator.formats.activations import Activation, Activations

_DUMP: Final = re.compile(r"\s*(?:[{\[][\s{\['\"]|[A-Z]\w*\(\w+=|<[\w.]+ object at 0x)")
"""How a JSON document or a value of a program begins that somebody wrote as text."""


def _written(texts: Sequence[str]) -> str:
    """The first text that is no dump; the first one if all are."""
    told = [text for text in texts if text]
    return next((text for text in told if not _DUMP.match(text)), told[0] if told else "")


def _without_dumps(told: Content) -> Content:
    asked, answered = ("" if _DUMP.match(text) else text for text in (told.input, told.output))
    return replace(told, input=asked, output=answered)


@dataclass(frozen=True)
class SpanTexts:
    """The texts of a recording."""

    tree: SpanTree
    reading: TeamReading
    activations: Activations

    @cached_property
    def of_heads(self) -> Mapping[str, Content]:
        """By head, what the agent of an activation was asked and answered: from its own span, from the span around it,
        or from the first and the last call of a model in it."""
        inside: defaultdict[int, list[Span]] = defaultdict(list)
        for span in self._by_start(self.tree.spans.values()):
            if (activation := self.activations.of_span.get(span.span_id)) is not None:
                inside[id(activation)].append(span)
        return {each.head.span_id: self._of(each, inside[id(each)]) for each in self.activations.all}

    def _of(self, activation: Activation, inside: Sequence[Span]) -> Content:
        whole = activation.head.content
        own = _without_dumps(whole)
        if own.input and own.output:
            return own
        around = self._around(activation)
        found = own if around is None else own.completed_by(_without_dumps(around.content))
        for act in (Act.MODEL, Act.WORK, Act.AGENT):
            contents = [_without_dumps(each.content) for each in inside if self._act(each) is act]
            asked = next((each for each in contents if each.input), NOTHING)
            answered = next((each for each in reversed(contents) if each.output), NOTHING)
            found = found.completed_by(Content(asked.input, answered.output, asked.before))
        found = found.completed_by(self._delivered(activation)) if self._messages else found
        return found.completed_by(whole)

    @cached_property
    def _messages(self) -> list[Delivered]:
        return messages_of(self.tree.spans.values())

    def _delivered(self, activation: Activation) -> Content:
        """What was delivered to the agent before the activation, and what it sent before its next one."""
        start = activation.head.start_ns
        again = (each.head.start_ns for each in self.activations.all if each.agent == activation.agent)
        until = min((at for at in again if at > start), default=None)
        heard = [each.text for each in self._messages if each.at_ns <= start and each.recipient == activation.agent]
        sent = [
            each.text
            for each in self._messages
            if each.sender == activation.agent and each.at_ns >= start and (until is None or each.at_ns < until)
        ]
        return Content("".join(heard[-1:]), "".join(sent[-1:]), len(heard))

    def _around(self, activation: Activation) -> Span | None:
        """The span around an activation, if it is around no other one and part of none."""
        parent = self.tree.spans.get(activation.head.parent_id)
        if parent is None or self.activations.of_span.get(parent.span_id) is not None:
            return None
        heads = self._heads & {each.span_id for each in self.tree.children.get(parent.span_id, ())}
        return parent if len(heads) == 1 else None

    @cached_property
    def _heads(self) -> frozenset[str]:
        return frozenset(each.head.span_id for each in self.activations.all)

    def _act(self, span: Span) -> Act | None:
        read = self.reading.spans.get(span.span_id)
        return Act.WORK if read is None else read.act

    @cached_property
    def task(self) -> str:
        """What the team was asked: by the first span of the run that tells it, else by the first of its agents."""
        asked = (each.content.input for chain in self._tops for each in chain)
        return _written([*asked, *(each.input for each in self._outermost)])

    @cached_property
    def answer(self) -> str:
        """What the team answered: by the last outermost span that tells it, else by the last of its agents."""
        said = (each.content.output for chain in reversed(self._tops) for each in chain)
        return _written([*said, *(each.output for each in reversed(self._outermost))])

    @cached_property
    def _tops(self) -> list[list[Span]]:
        """By their start, the outermost spans, each with the only span below it, and so on, down to an agent."""
        return [list(self._chain(top)) for top in self.tree.children.get("", ())]

    def _chain(self, span: Span) -> Iterator[Span]:
        seen: set[str] = set()
        while span.span_id not in seen:
            seen.add(span.span_id)
            yield span
            below = self.tree.children.get(span.span_id, ())
            if len(below) != 1 or self._act(span) is Act.AGENT:
                return
            span = below[0]

    @cached_property
    def _outermost(self) -> list[Content]:
        return [self.of_heads[each.head.span_id] for each in self.activations.all if each.within is None]

    @staticmethod
    def _by_start(spans: Iterable[Span]) -> list[Span]:
        return sorted(spans, key=lambda each: (each.start_ns, each.span_id))

"""Interactions: the calls between agents, each logical call once, with its provenance."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple, overload

from concord.trace.attributes import EdgeKind, KnownBy, Support
from concord_evaluator.trace.agent_ids import NOT_IN_GRAPH
from concord_evaluator.trace.attempts import Attempts
from concord_evaluator.trace.cases import are
from concord_evaluator.trace.columns import Bytes, Codes, Flags, Steps
from concord_evaluator.trace.provenance import PROVENANCES, Provenance
from concord_evaluator.trace.records import StepRecord
from concord_evaluator.trace.trees import ROOT, Numbers


class Call(NamedTuple):
    """One attempt to call an agent. `parent`: the index, in causal order, of the call that the attempt was made in.

    Only calls whose provenance counts are in causal order and have a parent there.
    """

    caller: str
    callee: str
    record: StepRecord
    provenance: Provenance
    parent: int | None

    @property
    def step_id(self) -> str:
        """The id by which both ends know the call."""
        return self.record.step_id


Link = tuple[str, str]
"""A caller and a callee."""

_DOUBT: Final = {provenance: rank for rank, provenance in enumerate(PROVENANCES)}


class Interaction(tuple[Call, ...]):
    """One logical call: the attempts at it, at least one, in the order of their step ids."""

    __slots__ = ()

    @property
    def caller(self) -> str:
        """The calling agent."""
        return self[0].caller

    @property
    def callee(self) -> str:
        """The called agent."""
        return self[0].callee

    @property
    def step_ids(self) -> tuple[str, ...]:
        """The step ids of the attempts, sorted."""
        return tuple(attempt.record.step_id for attempt in self)

    @property
    def provenance(self) -> Provenance:
        """The provenance of the least trusted attempt."""
        return (
            max([attempt.provenance for attempt in self], key=_DOUBT.__getitem__)
            if len(self) > 1
            else self[0].provenance
        )

    @property
    def kind(self) -> EdgeKind:
        """How the call connects its agents."""
        return self[0].record.edge_kind

    @property
    def known_by(self) -> KnownBy | None:
        """What spans tell the call by. None for a call that was reported as one."""
        return self[0].record.known_by

    @property
    def support(self) -> Support | None:
        """What a second source in the spans says. None for a call that was reported as one."""
        return self[0].record.support

    @property
    def request_digest(self) -> str | None:
        """The digest of the request. None where unknown."""
        return self[0].record.request_digest

    @property
    def failed(self) -> bool:
        """Whether every attempt failed. A failed call has no reply."""
        return None not in [attempt.record.error for attempt in self]


class CallList(Sequence[Call]):
    """The attempts that count, in causal order, each made from the columns when it is asked for.

    `number`: of each in `attempts`; `parent`: the place of the call that it was made in, or `ROOT`.
    """

    def __init__(self, attempts: Attempts, steps: Steps, number: Numbers, parent: Numbers) -> None:
        self.attempts, self.steps, self.number, self.parent = attempts, steps, number, parent
        self.row: Numbers = attempts.row[number]
        self.caller: Codes = attempts.caller[number]
        self.callee: Codes = attempts.callee[number]
        self.provenance: Bytes = attempts.provenance[number]

    def __len__(self) -> int:
        return len(self.number)

    @cached_property
    def failed(self) -> Flags:
        """By attempt, whether it has an error."""
        failed: Flags = self.steps.columns.failed[self.row]
        return failed

    @cached_property
    def between_agents(self) -> Flags:
        """By attempt, whether an agent of the team called another."""
        outside = [self.steps.names.code(each) for each in sorted(NOT_IN_GRAPH)]
        inside = ~are(self.caller, outside) & ~are(self.callee, outside)
        between: Flags = inside & (self.caller != self.callee)
        return between

    @overload
    def __getitem__(self, place: int) -> Call: ...
    @overload
    def __getitem__(self, place: slice) -> list[Call]: ...
    def __getitem__(self, place: int | slice) -> Call | list[Call]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        parent = int(self.parent[place])
        return call_of(int(self.number[place]), self.attempts, self.steps, None if parent == ROOT else parent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallList) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def call_of(number: int, attempts: Attempts, steps: Steps, parent: int | None) -> Call:
    """One attempt as a call."""
    names = steps.names.texts
    caller, callee = names[attempts.caller[number]], names[attempts.callee[number]]
    provenance = PROVENANCES[attempts.provenance[number]]
    return Call(caller, callee, steps.record(int(attempts.row[number])), provenance, parent)

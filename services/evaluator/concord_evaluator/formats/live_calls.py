"""Calls of a participant to other participants, according to its spans and the gateway's records."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from concord.trace.attributes import AGENT_NAME
from concord.trace.otlp import Span, SpanTree, name_key
from concord.trace.step import CallType, as_utc
from concord.trace.stored_step import Step
from concord.trust.urls import lies_under
from concord.wire.roster import Roster, RosterEntry, normalise_url
from concord_evaluator.formats.activations import Activation, Activations


class Target(NamedTuple):
    """The callee of a call in the form of a step: id and URL, and the id of the observed step if there is one."""

    callee: str
    url: str
    step_id: str = ""


class ObservedCall(NamedTuple):
    """A call that the gateway carried, in order of its start (seconds since 1970)."""

    started_s: float
    step_id: str
    caller: str
    callee: str
    url: str

    @classmethod
    def of(cls, step: Step, roster: Roster) -> "ObservedCall | None":
        """The call of an observed step; None for other steps."""
        call = step.agent_call if step.kind is CallType.AGENT else None
        if call is None:
            return None
        started = 0.0 if step.start_time is None else as_utc(step.start_time).timestamp()
        callee = roster.resolve(call.agent_url, call.agent_name)
        return cls(started, step.step_id, step.additional_attributes.get(AGENT_NAME, ""), callee, call.agent_url)


class Members:
    """The participants of a trial, by the names and the addresses that spans give them."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._by_name = {name_key(entry.id): entry.id for entry in roster}
        shared = defaultdict[str, list[RosterEntry]](list)
        for entry in roster:
            shared[normalise_url(entry.url)].append(entry)
        self._alone = [entries[0] for entries in shared.values() if len(entries) == 1]

    def named(self, agent: str) -> str:
        """The participant with that name; "" if there is none."""
        return self._by_name.get(name_key(agent), "")

    def at(self, url: str) -> str:
        """The participant whose declared address the URL lies under; "" if none or several have it."""
        found = [entry for entry in self._alone if url and lies_under(url, entry.url)]
        return max(found, key=lambda entry: len(entry.url)).id if found else ""

    def url_of(self, participant: str) -> str:
        """The declared address of a participant; "" for an unknown one."""
        return self._roster[participant].url if participant in self._roster else ""


@dataclass(frozen=True, slots=True)
class TrialCalls:
    """The data about calls between participants from all reports of a trial.

    `observed`: the calls that the gateway carried, by step id. `continued`: by span id, the participants whose own
    spans have that span as parent.
    """

    members: Members
    observed: Mapping[str, ObservedCall]
    continued: Mapping[str, frozenset[str]]


class Outbound:
    """The calls of one participant to others.

    A call is one of these: an observed call with the id of a span; a span that another participant's spans continue, or
    that POSTs to another participant's address; the work of an agent with another participant's name. Such work is
    matched with the observed calls to that participant, in order. Calls without a match went past the gateway, to the
    declared address.
    """

    def __init__(self, participant: str, calls: TrialCalls) -> None:
        self._participant = participant
        self._calls = calls
        self._left: defaultdict[str, deque[ObservedCall]] = defaultdict(deque)
        for call in sorted(each for each in calls.observed.values() if each.caller == participant):
            self._left[call.callee].append(call)

    def member(self, agent: str) -> str:
        """The other participant that an agent's name refers to; "" for an agent inside this participant."""
        return self._other(self._calls.members.named(agent))

    def member_of(self, activation: Activation) -> str:
        """The other participant that works in an activation, by its name or its address; "" for an agent inside this
        participant."""
        return self.member(activation.agent) or self._other(self._calls.members.at(activation.head.address))

    def _other(self, participant: str) -> str:
        return "" if participant == self._participant else participant

    def of_spans(self, spans: Iterable[Span]) -> dict[str, list[Target]]:
        """The calls that are single spans, by span id. Takes their observed calls out of the later matching."""
        found = {span.span_id: targets for span in spans if (targets := self._targets(span))}
        for span_id in found:
            if (call := self._calls.observed.get(span_id)) is not None and call in self._left[call.callee]:
                self._left[call.callee].remove(call)
        return found

    def of_agents(
        self, tree: SpanTree, activations: Activations, of_spans: Mapping[str, Sequence[Target]]
    ) -> dict[str, Target]:
        """By head, the calls that are the work of an agent with another participant's name, unless spans below it are
        these calls."""
        covered = {
            (head, target.callee)
            for span_id, targets in of_spans.items()
            if span_id in tree.spans
            for head in _heads_above(activations.of_span[span_id])
            for target in targets
        }
        found: dict[str, Target] = {}
        for each in activations.all:
            member = self.member_of(each)
            if not member or (each.head.span_id, member) in covered:
                continue
            if self._left[member]:
                call = self._left[member].popleft()
                found[each.head.span_id] = Target(member, call.url, call.step_id)
            else:
                url = each.head.address or self._calls.members.url_of(member)
                found[each.head.span_id] = Target(member, url)
        return found

    def _targets(self, span: Span) -> list[Target]:
        call = self._calls.observed.get(span.span_id)
        if call is not None and call.caller == self._participant:
            return [Target(call.callee, call.url, call.step_id)]
        if call is not None or (span.client and not span.address):
            return []  # A client's span without an address is not a call, but fetches a card, for example.
        members = self._calls.members
        callees = set(self._calls.continued.get(span.span_id, ()))
        if not span.calls_agent:
            callees.add(members.at(span.address))
        return [Target(callee, members.url_of(callee)) for callee in sorted(callees - {"", self._participant})]


def _heads_above(activation: Activation | None) -> Iterable[str]:
    while activation is not None:
        yield activation.head.span_id
        activation = activation.within

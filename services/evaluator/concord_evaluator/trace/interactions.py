"""Interactions: the calls between agents, each logical call once, with where the knowledge of it comes from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import attrgetter

from concord_evaluator.trace.attribution import MadeStep
from concord_evaluator.trace.names import participant_of
from concord_evaluator.trace.records import StepKey, StepRecord


class Provenance(StrEnum):
    """Why a call is believed: we saw it, both of its ends told of it, or one end did."""

    OBSERVED = "observed"
    CORROBORATED = "corroborated"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Interaction:
    """One logical call: its attempts, their latencies where known (milliseconds, sorted), and how they ended."""

    caller: str
    callee: str
    step_ids: tuple[str, ...]
    retries: int
    failed_attempts: int
    latencies_ms: tuple[float, ...]
    provenance: Provenance
    request_digest: str | None

    @property
    def attempts(self) -> int:
        """How often the call was made."""
        return len(self.step_ids)

    @property
    def failed(self) -> bool:
        """Whether no attempt succeeded. Such a call has no reply."""
        return self.failed_attempts == self.attempts


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to call an agent; `keys`: the contents that it was told in; `above`: the call it was made in."""

    caller: str
    callee: str
    trace_id: str
    step_id: str
    record: StepRecord
    provenance: Provenance
    keys: tuple[StepKey, ...]
    above: StepKey | None


@dataclass(frozen=True, slots=True)
class Claims:
    """The attempts that are believed, sorted by edge and step id, and how many claims were refuted by what was seen."""

    attempts: tuple[Attempt, ...]
    contradicted: int


def find_attempts(steps: Iterable[MadeStep], answered_by: Mapping[tuple[str, str], set[str]]) -> Claims:
    """Joins the tellings of each attempt into one.

    `answered_by` says who told of steps made under a call: the callee itself among them corroborates the call.
    """
    claims: defaultdict[tuple[str, str, str], list[MadeStep]] = defaultdict(list)
    calls = [step for step in steps if step.callee is not None]
    insiders = _insiders(calls)
    for step in calls:
        maker = insiders.get((step.key.trace_id, step.key.step_id, step.maker), step.maker)
        claims[step.key.trace_id, step.key.step_id, maker].append(step)
    attempts: list[Attempt] = []
    contradicted = 0
    for (_, _, maker), rivals in claims.items():
        upheld = _upheld(rivals)
        contradicted += len({rival.callee for rival in rivals}) - len(upheld)
        attempts.extend(_attempt(maker, callee, steps, answered_by) for callee, steps in upheld.items())
    attempts.sort(key=attrgetter("caller", "callee", "trace_id", "step_id"))
    return Claims(tuple(attempts), contradicted)


def _insiders(calls: Iterable[MadeStep]) -> Mapping[tuple[str, str, str], str]:
    """By (trace id, step id, participant), which agent inside the participant made a call, where it tells.

    Who sees the call from outside sees the participant only.
    """
    told = (call for call in calls if participant_of(call.maker) != call.maker)
    return {
        (call.key.trace_id, call.key.step_id, participant_of(call.maker)): call.maker
        for call in sorted(told, key=lambda call: call.maker)
    }


def _upheld(rivals: list[MadeStep]) -> dict[str, list[MadeStep]]:
    """The steps that say so for each callee of a call, the one to believe first.

    Where the call was observed, only what was observed counts.
    """
    believed: defaultdict[str, list[MadeStep]] = defaultdict(list)
    seen = {rival.callee for rival in rivals if rival.observed}
    for rival in sorted(rivals, key=lambda rival: (not rival.observed, not rival.direct, rival.key)):
        if rival.callee is not None and (not seen or rival.callee in seen):
            believed[rival.callee].append(rival)
    return believed


def _attempt(
    maker: str, callee: str, steps: list[MadeStep], answered_by: Mapping[tuple[str, str], set[str]]
) -> Attempt:
    step, answering = steps[0], participant_of(callee)
    key = step.key
    provenance = Provenance.REPORTED
    if step.observed:
        provenance = Provenance.OBSERVED
    elif answering != participant_of(maker) and answering in answered_by.get((key.trace_id, key.step_id), ()):
        provenance = Provenance.CORROBORATED
    return Attempt(
        caller=maker,
        callee=callee,
        trace_id=key.trace_id,
        step_id=key.step_id,
        record=step.record,
        provenance=provenance,
        keys=tuple(rival.key for rival in steps),
        above=step.above,
    )


def join_attempts(attempts: Iterable[Attempt]) -> Iterator[Interaction]:
    """The logical calls, sorted: repeated attempts (given sorted by edge and step id) joined into one call.

    A repetition names the attempt that it repeats (`retry_of`) and has the same caller and callee; together they are
    one call, which failed only if every attempt did.
    """
    for _, group in groupby(attempts, key=attrgetter("caller", "callee", "trace_id")):
        by_id = {attempt.step_id: attempt for attempt in group}
        first = _first_attempts({step_id: attempt.record.retry_of for step_id, attempt in by_id.items()})
        calls: defaultdict[str, list[Attempt]] = defaultdict(list)
        for step_id, attempt in by_id.items():
            calls[first[step_id]].append(attempt)
        for name in sorted(calls):
            yield _joined(calls[name])


def _first_attempts(repeats: Mapping[str, str | None]) -> dict[str, str]:
    """By step id, the first attempt of its call, which may be one that nobody reported."""
    first: dict[str, str] = {}
    for step_id in repeats:
        chain: dict[str, None] = {}
        current = step_id
        while current not in first and current not in chain:
            chain[current] = None
            current = repeats.get(current) or current
        root = first.get(current, current)
        first.update(dict.fromkeys(chain, root))
    return first


def _joined(attempts: list[Attempt]) -> Interaction:
    """The attempts as one call, believed no more than the least trusted of them."""
    trust = list(Provenance)
    return Interaction(
        caller=attempts[0].caller,
        callee=attempts[0].callee,
        step_ids=tuple(attempt.step_id for attempt in attempts),
        retries=sum(attempt.record.retry_of is not None for attempt in attempts),
        failed_attempts=sum(attempt.record.failed for attempt in attempts),
        latencies_ms=tuple(
            sorted(attempt.record.latency_ms for attempt in attempts if attempt.record.latency_ms is not None)
        ),
        provenance=max((attempt.provenance for attempt in attempts), key=trust.index),
        request_digest=attempts[0].record.request_digest,
    )

"""Tallies of calls, as a row tells them: by agent, and by caller and callee."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

import numpy as np

from concord.assessment.results import InteractionRecord, SourceCounts, SupportCounts
from concord.trace.attributes import EdgeKind
from concord_evaluator.documents import AgentTally
from concord_evaluator.trace.columns import EDGE_KINDS, SOURCES, SUPPORTS, Bytes
from concord_evaluator.trace.links import Links
from concord_evaluator.trace.provenance import PROVENANCES
from concord_evaluator.trace.trees import Numbers


def agent_tallies(agents: Sequence[str], links: Links) -> list[AgentTally]:
    """The numbers of calls of each agent."""
    names = links.steps.names
    codes = np.array([names.code(agent) for agent in agents], np.int32)
    ends = ((links.caller, links.n_calls), (links.callee, links.n_calls), (links.callee, links.failed))
    counts = [np.bincount(end, calls, len(names.texts)).astype(np.int64)[codes].tolist() for end, calls in ends]
    return [
        AgentTally(id=agent, calls_made=made, calls_received=received, errors_received=errors)
        for agent, made, received, errors in zip(agents, *counts, strict=True)
    ]


def interaction_records(links: Links) -> Iterator[InteractionRecord]:
    """The calls of each caller to each callee."""
    columns, first = links.steps.columns, links.first_row
    kinds = _counts(links.edge_kind, len(EDGE_KINDS), links)
    trust = _counts(links.provenance, len(PROVENANCES), links)
    sources = _counts(columns.known_by[first], len(SOURCES), links)
    supports = _counts(columns.support[first], len(SUPPORTS), links)
    handoffs, conversation, sequence = (
        EDGE_KINDS.index(kind) for kind in (EdgeKind.HANDOFF, EdgeKind.CONVERSATION, EdgeKind.SEQUENCE)
    )
    figures = zip(links.n_calls.tolist(), links.failed.tolist(), links.retries.tolist(), _means(links), strict=True)
    for number, ((caller, callee), (calls, errors, retries, latency)) in enumerate(zip(links, figures, strict=True)):
        kind, (observed, corroborated, reported) = kinds[number], trust[number]
        told, second = sources[number], supports[number]
        yield InteractionRecord(
            caller=caller,
            callee=callee,
            calls=calls,
            handoffs=kind[handoffs],
            conversation=kind[conversation],
            sequence=kind[sequence],
            known_by=SourceCounts(**dict(zip(SOURCES, told, strict=True))) if any(told) else None,
            support=SupportCounts(**dict(zip(SUPPORTS, second, strict=True))) if any(second) else None,
            errors=errors,
            retries=retries,
            observed=observed,
            corroborated=corroborated,
            reported=reported,
            latency_avg_ms=latency,
        )


def _counts(codes: Bytes, size: int, links: Links) -> list[list[int]]:
    """By link, the number of its calls with each code; those with a negative one do not count."""
    told = codes >= 0
    places: Numbers = links.link_of_call[told] * size + codes[told]
    counts: list[list[int]] = np.bincount(places, minlength=size * len(links)).reshape(-1, size).tolist()
    return counts


def _means(links: Links) -> Iterator[float | None]:
    """By link, the mean latency of all attempts (ms); None if unknown."""
    latencies, bounds = links.latencies_ms
    known = latencies.tolist()
    return (fmean(known[first:end]) if first < end else None for first, end in pairwise(bounds.tolist()))

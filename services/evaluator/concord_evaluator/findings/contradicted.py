"""Contradicted reports: what participants told of calls and the gateway's own records refute."""

from collections import defaultdict
from collections.abc import Iterator

from concord.assessment.results import Finding
from concord_evaluator.findings.evidence import MAX_OF_A_KIND, some
from concord_evaluator.graph import AgentGraph
from concord_evaluator.trace.contradictions import Claim


def find(graph: AgentGraph) -> Iterator[Finding]:
    """One finding for each participant that told of calls which did not take place, the most frequent first."""
    by_teller: defaultdict[str, list[tuple[int, Claim]]] = defaultdict(list)
    for claim, times in graph.contradictions.counts.items():
        by_teller[claim.teller].append((times, claim))
    told = sorted((-sum(times for times, _ in claims), teller) for teller, claims in by_teller.items())
    for total, teller in told[:MAX_OF_A_KIND]:
        claims = sorted(by_teller[teller], key=lambda each: (-each[0], each[1]))
        shown = ", ".join(f"{claim.caller} to {claim.callee} x{times}" for times, claim in claims[:MAX_OF_A_KIND])
        more = f" and {len(claims) - MAX_OF_A_KIND} more" if len(claims) > MAX_OF_A_KIND else ""
        yield Finding(
            id="contradicted_reports",
            agents=[teller],
            metric_id=None,
            measured="calls told of that did not take place",
            value=float(-total),
            threshold=0.0,
            step_ids=some(step_id for _, claim in claims for step_id in graph.contradictions.step_ids[claim]),
            advice=f"{teller} told of calls that had to pass through the gateway, which did not see them: "
            f"{shown}{more}. They count for nothing. Look at what makes these reports.",
        )

"""What the links between two agents show: one that is far slower than the others, and questions asked again."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from heapq import nsmallest
from statistics import fmean

from concord.assessment import Thresholds
from concord.assessment.results import Finding
from concord_evaluator.findings.evidence import MAX_OF_A_KIND, some
from concord_evaluator.graph import AgentGraph
from concord_evaluator.trace import LinkCalls, Links


def find(graph: AgentGraph, thresholds: Thresholds) -> Iterator[Finding]:
    """Slow links and redundant questions."""
    yield from _slow_links(graph.links, thresholds.slow_link)
    yield from _redundant_questions(graph.links, thresholds.redundant_question)


def _slow_links(links: Links, threshold: float) -> Iterator[Finding]:
    """Links whose mean latency is a multiple of the median of those of all other links."""
    means = {link: fmean(each.latencies_ms) for link, each in links.items() if each.latencies_ms}
    ascending = sorted(means.values())
    slow = []
    for (caller, callee), mean in means.items():
        usual = _median_without(ascending, mean)
        if usual and mean / usual > threshold:
            slow.append((-mean / usual, caller, callee))
    for times, caller, callee in nsmallest(MAX_OF_A_KIND, slow):
        yield Finding(
            id="slow_link",
            agents=[caller, callee],
            metric_id=None,
            measured="times the usual latency",
            value=-times,
            threshold=threshold,
            step_ids=some(_timed(links[caller, callee])),
            advice=f"{caller} waits {-times:.0f} times as long for {callee} as is usual in this team: see what "
            f"{callee} is busy with, or ask it earlier and go on meanwhile.",
        )


def _timed(link: LinkCalls) -> Iterator[str]:
    """The attempts whose latency is known."""
    return (each.step_id for call in link.calls for each in call if each.record.latency_ms is not None)


def _median_without(ascending: list[float], value: float) -> float | None:
    """The median of all values but this one; None for fewer than two others, which do not show what is usual."""
    others = len(ascending) - 1
    if others < 2:
        return None
    place = bisect_left(ascending, value)
    low, high = (index + (index >= place) for index in ((others - 1) // 2, others // 2))
    return (ascending[low] + ascending[high]) / 2


def _redundant_questions(links: Links, threshold: int) -> Iterator[Finding]:
    """For each link the question asked most often, and of these the worst."""
    again = []
    for link, each in links.items():
        asked = Counter(each.requests)
        times, question = min(((-times, question) for question, times in asked.items()), default=(0, ""))
        if -times > threshold:
            again.append((times, link, question))
    for times, (caller, callee), question in nsmallest(MAX_OF_A_KIND, again):
        same = (call for call in links[caller, callee].calls if call.request_digest == question)
        yield Finding(
            id="redundant_question",
            agents=[caller, callee],
            metric_id=None,
            measured="times asked the same",
            value=-times,
            threshold=threshold,
            step_ids=some(step_id for call in same for step_id in call.step_ids),
            advice=f"{caller} asked {callee} the same {-times} times: keep the answer, or say what is new.",
        )

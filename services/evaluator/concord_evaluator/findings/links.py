"""What the links between two agents show: one that is far slower than the others, and questions asked again."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from concord.assessment import Thresholds
from concord.results import Finding
from concord_evaluator.findings.evidence import some, worst
from concord_evaluator.graph import AgentGraph
from concord_evaluator.trace import Interaction

_Link = tuple[str, str]


def find(graph: AgentGraph, thresholds: Thresholds) -> Iterator[Finding]:
    """Slow links and redundant questions."""
    links: defaultdict[_Link, list[Interaction]] = defaultdict(list)
    for call in graph.interactions:
        links[call.caller, call.callee].append(call)
    yield from worst(_slow_links(links, thresholds.slow_link))
    yield from worst(_redundant_questions(links, thresholds.redundant_question))


def _slow_links(links: dict[_Link, list[Interaction]], threshold: float) -> Iterator[Finding]:
    """Links whose mean latency is a multiple of the median of those of all other links."""
    measured = {link: sorted(ms for call in calls for ms in call.latencies_ms) for link, calls in links.items()}
    means = {link: fmean(latencies) for link, latencies in measured.items() if latencies}
    ranked = sorted(means.values())
    for (caller, callee), mean in sorted(means.items()):
        others = _median_without(ranked, mean)
        if others and mean / others > threshold:
            yield Finding(
                id="slow_link",
                agents=[caller, callee],
                metric_id=None,
                value=mean / others,
                threshold=threshold,
                step_ids=some(step_id for call in links[caller, callee] for step_id in call.step_ids),
                advice=f"{caller} waits {mean / others:.0f} times as long for {callee} as is usual in this team: see "
                f"what {callee} is busy with, or ask it earlier and go on meanwhile.",
            )


def _median_without(ascending: list[float], value: float) -> float | None:
    """The median of all values but this one; None for fewer than two others, which do not show what is usual."""
    others = len(ascending) - 1
    if others < 2:
        return None
    place = bisect_left(ascending, value)
    low, high = (index + (index >= place) for index in ((others - 1) // 2, others // 2))
    return (ascending[low] + ascending[high]) / 2


def _redundant_questions(links: dict[_Link, list[Interaction]], threshold: int) -> Iterator[Finding]:
    for (caller, callee), calls in sorted(links.items()):
        asked: defaultdict[str, list[Interaction]] = defaultdict(list)
        for call in calls:
            if call.request_digest is not None:
                asked[call.request_digest].append(call)
        for _, same in sorted(asked.items()):
            if len(same) > threshold:
                yield Finding(
                    id="redundant_question",
                    agents=[caller, callee],
                    metric_id="repeat_ratio",
                    value=len(same),
                    threshold=threshold,
                    step_ids=some(step_id for call in same for step_id in call.step_ids),
                    advice=f"{caller} asked {callee} the same {len(same)} times: keep the answer, or say what is new.",
                )

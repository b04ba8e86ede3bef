"""Findings on the links between two agents: slow links and redundant questions."""

from bisect import bisect_left
from collections.abc import Iterator
from heapq import nsmallest
from itertools import pairwise
from statistics import fmean

import numpy as np

from concord.assessment.results import Finding
from concord_evaluator.findings.finder import MAX_PER_KIND, MeasuredTrial, first_step_ids
from concord_evaluator.trace import LinkCalls
from concord_evaluator.trace.cases import pairs
from concord_evaluator.trace.columns import NONE


def slow_links(trial: MeasuredTrial) -> Iterator[Finding]:
    """Links whose mean latency, as a multiple of the median over all other links, is above the threshold."""
    links, threshold = trial.graph.links, trial.thresholds.slow_link
    values, bounds = links.latencies_ms
    known, starts = values.tolist(), bounds.tolist()
    means = {
        link: fmean(known[first:end]) for link, (first, end) in zip(links, pairwise(starts), strict=True) if first < end
    }
    ascending = sorted(means.values())
    slow = []
    for (caller, callee), mean in means.items():
        usual = _median_without(ascending, mean)
        if usual and mean / usual > threshold:
            slow.append((-mean / usual, caller, callee))
    for times, caller, callee in nsmallest(MAX_PER_KIND, slow):
        yield Finding(
            id="slow_link",
            agents=[caller, callee],
            metric_id=None,
            measured="times the usual latency",
            value=-times,
            threshold=threshold,
            step_ids=first_step_ids(_timed(links[caller, callee])),
            advice=f"{caller} waits {-times:.0f} times as long for {callee} as usual in this team.",
        )


def _timed(link: LinkCalls) -> Iterator[str]:
    """The step ids of the attempts whose latency is known."""
    return (each.step_id for call in link.calls for each in call if each.record.latency_ms is not None)


def _median_without(ascending: list[float], value: float) -> float | None:
    """The median of all values but this one. None for fewer than two other values."""
    others = len(ascending) - 1
    if others < 2:
        return None
    place = bisect_left(ascending, value)
    low, high = (index + (index >= place) for index in ((others - 1) // 2, others // 2))
    return (ascending[low] + ascending[high]) / 2


def redundant_questions(trial: MeasuredTrial) -> Iterator[Finding]:
    """The question asked most often on each link, where that is above the threshold; the worst links."""
    links, threshold = trial.graph.links, trial.thresholds.redundant_question
    ends = list(links)
    asked = links.requests != NONE
    questions, asked_times = pairs(links.link_of_call[asked], links.requests[asked])
    often = asked_times > threshold
    again: dict[int, tuple[int, int]] = {}
    for (link, question), n in zip(questions[often].tolist(), asked_times[often].tolist(), strict=True):
        again[link] = min((-n, question), again.get(link, (0, 0)))
    ranked = [(n, ends[link], link, question) for link, (n, question) in again.items()]
    for times, (caller, callee), link, question in nsmallest(MAX_PER_KIND, ranked):
        same = (links.link_of_call == link) & (links.requests == question)
        yield Finding(
            id="redundant_question",
            agents=[caller, callee],
            metric_id=None,
            measured="times asked the same",
            value=-times,
            threshold=threshold,
            step_ids=links.first_step_ids(np.repeat(same, np.diff(links.calls))),
            advice=f"{caller} asked {callee} the same question {-times} times.",
        )

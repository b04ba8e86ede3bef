"""The evaluator: selects the texts of a trial, measures them, and returns metrics and findings."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice
from statistics import fmean
from typing import Final

from concord.assessment.results import MAX_STEP_IDS, Finding, MetricParameter, MetricRecord, MetricStatus
from concord_evaluator.metrics import Parameter
from concord_evaluator.pipeline import Contribution, QuotedCall, TrialInput, evaluator, quoted_calls
from concord_text.measures import drifts, phrases_of, redundancy, resemblance

REDUNDANCY: Final = "text/redundancy/shingles/1-distinct/all"
DRIFT: Final = "text/drift/requests/1-tf_idf_cosine"
OVERLAP: Final = "text/answer_overlap/shingles/jaccard/mean_over_pairs"

DEFINITIONS: Final = {
    REDUNDANCY: "The share of phrases in the agents' messages that another message already contains (shingles, Broder "
    "1997). 0: no phrase is repeated; 0.5: every phrase occurs twice.",
    DRIFT: "The distance of the agents' requests from the task: the mean of 1 - cosine of their TF-IDF vectors. "
    "0: only words of the task; 1: no word of the task.",
    OVERLAP: "The similarity of the answers of different agents: the mean, over all pairs of agents, of the share of "
    "their phrases that occur in both (Jaccard). 1: all agents give the same answer.",
}

MAX_PAIRS: Final = 10_000
MAX_FINDINGS: Final = 10


@evaluator(
    "text",
    tier=3,
    parameters={"words": Parameter(3, 1, 8), "alike": Parameter(0.8, 0, 1)},
    definitions=DEFINITIONS,
)
def evaluate_text(trial: TrialInput, _: Mapping[str, Contribution], words: float, alike: float) -> Contribution:
    """Compares messages by phrases of `words` words. Answers with a similarity of at least `alike` are a finding."""
    said = quoted_calls(trial)
    agents = set(trial.projection.agents)
    requests = [each for each in said if each.caller in agents and phrases_of(each.request, 1)]
    answers = [each for each in said if each.callee in agents and phrases_of(each.response, 1)]
    texts = [each.request for each in requests] + [each.response for each in answers]
    repeated = redundancy([phrases_of(text, int(words)) for text in texts])
    pairs = likenesses(answers, int(words))

    record = partial(record_of, doubt=doubt_of(said, len(trial.projection.calls)))
    phrases = {"words": words}
    return Contribution(
        metrics=(
            record("text_redundancy", REDUNDANCY, repeated, len(texts), params=phrases),
            *drift_records(trial.task, requests, record),
            record("text_answer_overlap", OVERLAP, mean(pairs.values()), len(pairs), params=phrases),
        ),
        findings=tuple(same_answers(pairs, answers, alike)),
    )


def doubt_of(said: Sequence[QuotedCall], calls: int) -> str | None:
    """The reason if a value is computed from a part of the calls, else None."""
    known = sum(bool(each.request or each.response) for each in said)
    return None if known == calls else f"{known} of {calls} calls contain their texts"


def drift_records(
    task: str, requests: Sequence[QuotedCall], record: Callable[..., MetricRecord]
) -> Iterator[MetricRecord]:
    """The drift of the team, and of each agent that sent a request."""
    found = drifts(task, [each.request for each in requests]) if phrases_of(task, 1) else []
    yield record("text_drift", DRIFT, mean(found), len(found))
    by_agent: defaultdict[str, list[float]] = defaultdict(list)
    for each, drift in zip(requests, found, strict=False):
        by_agent[each.caller].append(drift)
    for agent, own in sorted(by_agent.items()):
        yield record("text_drift", DRIFT, mean(own), len(own), agent=agent)


def likenesses(answers: Sequence[QuotedCall], words: int) -> dict[tuple[str, str], float]:
    """The similarity of the answers of two agents, with all answers of an agent together; at most `MAX_PAIRS` pairs."""
    phrases: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for each in answers:
        phrases[each.callee] |= phrases_of(each.response, words)
    pairs = islice(combinations(sorted(phrases), 2), MAX_PAIRS)
    return {(one, other): resemblance(phrases[one], phrases[other]) for one, other in pairs}


def same_answers(
    pairs: Mapping[tuple[str, str], float], answers: Sequence[QuotedCall], alike: float
) -> Iterator[Finding]:
    """The pairs of agents with the most similar answers, from a similarity of `alike` on."""
    for agents, likeness in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_FINDINGS]:
        if likeness >= alike:
            yield Finding(
                id="same_answers",
                agents=list(agents),
                metric_id="text_answer_overlap",
                value=likeness,
                threshold=alike,
                step_ids=[each.step_id for each in answers if each.callee in agents][:MAX_STEP_IDS],
                advice="Two agents give nearly the same answer: ask each a different question, or remove one of them.",
            )


def record_of(
    metric_id: str,
    definition_id: str,
    value: float | None,
    n: int,
    *,
    doubt: str | None,
    agent: str | None = None,
    params: Mapping[str, float] | None = None,
) -> MetricRecord:
    """A value as a record of the row. An unknown value is undefined with a reason, never 0."""
    status, reason = MetricStatus.OK, doubt
    if value is None:
        status, reason = MetricStatus.UNDEFINED, "too few requests and answers are known"
    elif doubt is not None:
        status = MetricStatus.APPROXIMATE
    return MetricRecord(
        id=metric_id,
        agent=agent,
        value=value,
        status=status,
        reason=reason,
        n=n,
        definition_id=definition_id,
        engine="python",
        params=[MetricParameter(name=name, value=f"{setting:g}") for name, setting in (params or {}).items()],
    )


def mean(values: Collection[float]) -> float | None:
    """The mean; None without values."""
    return fmean(values) if values else None

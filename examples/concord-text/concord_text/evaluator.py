"""The evaluator: which texts of a trial are measured, and what is told of them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice
from statistics import fmean
from typing import Final

from concord.assessment.results import Finding, MetricParameter, MetricRecord, MetricStatus
from concord_evaluator.metrics import Parameter
from concord_evaluator.pipeline import Contribution, QuotedCall, TrialInput, evaluator, quoted_calls
from concord_text.measures import drifts, phrases_of, redundancy, resemblance

REDUNDANCY: Final = "text/redundancy/shingles/1-distinct/all"
DRIFT: Final = "text/drift/requests/1-tf_idf_cosine"
OVERLAP: Final = "text/answer_overlap/shingles/jaccard/mean_over_pairs"

DEFINITIONS: Final = {
    REDUNDANCY: "The share of the phrases in the agents' messages that another message has already (shingles, Broder "
    "1997). 0: nobody repeats anything; 0.5: everything is said twice.",
    DRIFT: "How far what agents ask each other is from the task: the mean of 1 - cosine of their TF-IDF vectors. "
    "0: the task's own words; 1: none of them.",
    OVERLAP: "How alike the answers of different agents are: the mean, over all pairs of agents, of the share of "
    "their phrases that both have (Jaccard). 1: all answer the same.",
}

MAX_PAIRS: Final = 10_000
MAX_FINDINGS: Final = 10
MAX_STEP_IDS: Final = 20


@evaluator(
    "text",
    tier=3,
    parameters={"words": Parameter(3, 1, 8), "alike": Parameter(0.8, 0, 1)},
    definitions=DEFINITIONS,
)
def evaluate_text(trial: TrialInput, _: Mapping[str, Contribution], words: float, alike: float) -> Contribution:
    """Compares what agents say by phrases of `words` words; answers at least `alike` alike are a finding."""
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
    """Why a value stands for more than was read, if it does."""
    known = sum(bool(each.request or each.response) for each in said)
    return None if known == calls else f"{known} of {calls} calls say what was said"


def drift_records(
    task: str, requests: Sequence[QuotedCall], record: Callable[..., MetricRecord]
) -> Iterator[MetricRecord]:
    """The drift of the team, and of each agent that asked anything."""
    found = drifts(task, [each.request for each in requests]) if phrases_of(task, 1) else []
    yield record("text_drift", DRIFT, mean(found), len(found))
    by_agent: defaultdict[str, list[float]] = defaultdict(list)
    for each, drift in zip(requests, found, strict=False):
        by_agent[each.caller].append(drift)
    for agent, own in sorted(by_agent.items()):
        yield record("text_drift", DRIFT, mean(own), len(own), agent=agent)


def likenesses(answers: Sequence[QuotedCall], words: int) -> dict[tuple[str, str], float]:
    """How alike the answers of two agents are, all answers of an agent together; the first `MAX_PAIRS` pairs."""
    phrases: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for each in answers:
        phrases[each.callee] |= phrases_of(each.response, words)
    pairs = islice(combinations(sorted(phrases), 2), MAX_PAIRS)
    return {(one, other): resemblance(phrases[one], phrases[other]) for one, other in pairs}


def same_answers(
    pairs: Mapping[tuple[str, str], float], answers: Sequence[QuotedCall], alike: float
) -> Iterator[Finding]:
    """The pairs of agents whose answers are most alike, if they are alike enough to be worth telling."""
    for agents, likeness in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_FINDINGS]:
        if likeness >= alike:
            yield Finding(
                id="same_answers",
                agents=list(agents),
                metric_id="text_answer_overlap",
                value=likeness,
                threshold=alike,
                step_ids=[each.step_id for each in answers if each.callee in agents][:MAX_STEP_IDS],
                advice="Two agents answer nearly the same: give each a question of its own, or leave one out.",
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
    """A value as the row has it. What cannot be known is no 0, but undefined, and says why."""
    status, reason = MetricStatus.OK, doubt
    if value is None:
        status, reason = MetricStatus.UNDEFINED, "too little is known of what was asked and answered"
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
    """The mean; None of nothing."""
    return fmean(values) if values else None

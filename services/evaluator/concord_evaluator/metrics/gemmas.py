"""GEMMAS (Lee et al. 2025, arXiv 2507.13190): diversity of requests, and unnecessary paths.

Taken: both formulas. Information diversity is the weighted mean of 1 - similarity over pairs of agents, weight 1 for
those joined by an edge and 0 else; similarity is the paper's syntactic part, the cosine of TF-IDF vectors. The ratio
of unnecessary paths is 1 - necessary / all.

Left out: the paper's semantic similarity, which takes a language model; and its measure of which path contributed to
the right answer, which takes a right answer. A path here contributes if all its calls were answered and it does not
end in a question that had been asked already. Paths are those of the calls themselves, which never go in circles, so
that they are counted in one pass; the paper's are those of an acyclic graph of agents.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from concord.assessment.results import MetricStatus
from concord_evaluator.metrics.metric import Measured, approximate, metric, undefined

if TYPE_CHECKING:
    from concord_evaluator.graph import AgentGraph
    from concord_evaluator.trace import CallList

_WORD: Final = re.compile(r"\w+")

MAX_PAIRS: Final = 10_000
"""The maximum number of pairs of agents that are compared."""


@metric("information_diversity", definition_id="gemmas/information_diversity/tf_idf/requests")
def information_diversity(graph: AgentGraph) -> Iterator[Measured]:
    """The difference between the requests of two agents that talk to each other: the mean of 1 - cosine of their TF-IDF
    vectors (the syntactic part of GEMMAS's information diversity score, Lee et al. 2025). 1 if they share no word."""
    said, sampled = _request_texts(graph)
    pairs = sorted({(min(link), max(link)) for link in graph.links if link[0] in said and link[1] in said})
    if not pairs:
        yield undefined(0, "no two agents that talk to each other have request texts")
        return
    compared = pairs[:MAX_PAIRS]
    vectors = TfIdf(said)
    value = math.fsum(1 - vectors.cosine(a, b) for a, b in compared) / len(compared)
    if sampled or len(pairs) > MAX_PAIRS:
        yield approximate(value, len(compared), "estimated from a sample of the requests")
    else:
        yield Measured(value, len(compared))


def _request_texts(graph: AgentGraph) -> tuple[dict[str, str], bool]:
    """By agent, the texts of its requests; and whether these are only a sample."""
    from concord_evaluator.trace.columns import NONE, pairs

    asked: defaultdict[str, list[int]] = defaultdict(list)
    links, names = graph.links, graph.calls.steps.names.texts
    known = links.requests != NONE
    distinct, _ = pairs(links.caller[links.link_of_call][known], links.requests[known])
    for caller, request in distinct[distinct[:, 1] < len(graph.texts)].tolist():
        asked[names[caller]].append(request)
    texts = {
        agent: [graph.texts[links.steps.request_digest(each)] for each in requests] for agent, requests in asked.items()
    }
    n_known = sum(map(len, texts.values()))
    said = {agent: "\n".join(some) for agent, some in texts.items() if any(text.strip() for text in some)}
    return said, n_known < len(distinct)


@metric("unnecessary_path_ratio", definition_id="gemmas/unnecessary_path_ratio/calls/answered_and_new")
def unnecessary_path_ratio(graph: AgentGraph) -> Iterator[Measured]:
    """The share of paths that contributed nothing. A path is a chain of nested calls. It contributed nothing if a call
    in it failed, or if it ends in a question that the same caller had already asked the same agent (after GEMMAS's
    unnecessary path ratio, Lee et al. 2025)."""
    import numpy as np

    from concord_evaluator.trace.trees import below_any

    calls = graph.calls
    is_end = np.ones(len(calls) + 1, np.bool_)
    is_end[calls.parent] = False
    ends = np.flatnonzero(is_end[:-1])
    if not len(ends):
        yield undefined(0, "there are no calls", status=MetricStatus.UNDEFINED)
        return
    unnecessary = calls.failed | below_any(calls.parent, calls.failed)
    unnecessary[_repeated(calls)] = True
    yield Measured(int(unnecessary[ends].sum()) / len(ends), len(ends))


def _repeated(calls: CallList) -> list[int]:
    """The calls whose caller had sent that agent the same request before, and had been answered."""
    import numpy as np

    from concord_evaluator.trace.columns import NONE

    requests = calls.steps.columns.request[calls.row]
    times = np.bincount(requests[requests != NONE], minlength=1)
    again = np.flatnonzero((requests != NONE) & (times[requests] > 1))
    answered: set[tuple[int, int, int]] = set()
    found: list[int] = []
    facts = (calls.caller, calls.callee, requests, calls.failed)
    for index, caller, callee, request, failed in zip(
        again.tolist(), *(each[again].tolist() for each in facts), strict=True
    ):
        if (caller, callee, request) in answered:
            found.append(index)
        if not failed:
            answered.add((caller, callee, request))
    return found


class TfIdf:
    """Texts as TF-IDF vectors of length 1 (Spärck Jones 1972), by name.

    A word weighs tf * (ln((1 + N) / (1 + df)) + 1), smoothed as in scikit-learn.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        counts = {name: Counter(_WORD.findall(text.lower())) for name, text in texts.items()}
        texts_with = Counter(word for words in counts.values() for word in words)
        rarity = {word: math.log((1 + len(counts)) / (1 + n)) + 1 for word, n in texts_with.items()}
        self._vectors = {
            name: _unit({word: n * rarity[word] for word, n in words.items()}) for name, words in counts.items()
        }

    def cosine(self, one: str, other: str) -> float:
        """The cosine similarity of two texts: 0 without a common word, 1 for equal word counts; 0 for an empty text."""
        a, b = self._vectors[one], self._vectors[other]
        return min(1.0, math.fsum(a[word] * b[word] for word in a.keys() & b.keys()))


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(math.fsum(value * value for value in vector.values()))
    return {word: value / length for word, value in vector.items()}


METRICS: Final = (information_diversity, unnecessary_path_ratio)

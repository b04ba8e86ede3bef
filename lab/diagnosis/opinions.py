"""A model's opinions on labelled failures, beside people's labels and beside chance."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from concord.llm import LLMSettings
from concord_evaluator.judge import BlameOpinion, failed_run, opinion_on
from concord_evaluator.statistics import rate_interval
from lab.diagnosis.baselines import chronological, random_agent
from lab.diagnosis.labels import Label
from lab.diagnosis.measures import Case


@dataclass(frozen=True, slots=True)
class Labelled:
    """A failure, and its label. `order`: its steps in the order of time, the labelled one among them."""

    case: Case
    label: Label
    order: Sequence[str]

    def distance(self, step_id: str | None) -> int | None:
        """How many steps a step is from the labelled one; None for no step."""
        return None if step_id is None else abs(self.order.index(step_id) - self.order.index(self.label.step_id))


def asked_about(cases: Sequence[Case], labels: Sequence[Label], sample: int | None = None) -> list[Labelled]:
    """The labelled failures whose labels name one of their steps, in an order that is always the same; or
    the first `sample` of them. Any beginning is a random sample."""
    by_trace = {label.trace_id: label for label in labels}
    found = [
        Labelled(case, label, order)
        for case in cases
        if (label := by_trace.get(case.trace.trace_id)) and label.step_id in (order := chronological(case.acts))
    ]
    random.Random(0).shuffle(found)  # nosec B311  # noqa: S311 - a reproducible draw, not a secret
    return found[:sample]


async def opinions_against_labels(
    asked: Sequence[Labelled], settings: LLMSettings, budget: int, max_tokens: int
) -> AsyncIterator[tuple[str, str]]:
    """Asks the model about each; tells each opinion, and how often it is right, with Wilson's intervals of 95 %.

    Once cancelled, it tells the figures of those that it asked about.
    """
    opinions = []
    for each in asked:
        case = each.case
        run = failed_run(case.acts, case.found.observations, case.trace.task, case.trace.answer, budget=budget)
        try:
            opinion = await opinion_on(run, settings, 4 * settings.timeout_s, max_tokens)
        except asyncio.CancelledError:  # Ctrl-C
            break
        opinions.append(opinion)
        told = opinion.problem or f"{opinion.verdict} {opinion.step_id} {opinion.agent}"
        yield f"{each.case.trace.trace_id[:36]}, {each.label.step_id} {each.label.agent}", told
    for line in figures(asked[: len(opinions)], opinions):
        yield line


def figures(asked: Sequence[Labelled], opinions: Sequence[BlameOpinion]) -> Iterator[tuple[str, str]]:
    """The figures of a model's opinions: of all that were asked for, and of those that name a step. Pure."""
    if not opinions:
        return
    pairs = list(zip(asked, opinions, strict=True))
    named = [(each, opinion) for each, opinion in pairs if opinion.verdict == "named"]
    supported = [(each, opinion) for each, opinion in named if opinion.supported]
    yield from _right("all", pairs)
    yield from _right("those named", named)
    yield from _right("those with a true quote", supported)
    yield "cannot tell", _share(sum(opinion.verdict == "cannot_tell" for opinion in opinions), len(pairs))
    yield "unsupported quotes, of those named", _share(len(named) - len(supported), len(named))
    problems = Counter(opinion.problem for opinion in opinions if opinion.problem is not None)
    yield "no opinion", _share(problems.total(), len(pairs))
    for problem, count in problems.most_common():
        yield f"  {count}", problem
    yield (
        "answers, tokens",
        ", ".join(
            f"{total:,}"
            for total in (sum(each.model_calls for each in opinions), sum(each.tokens or 0 for each in opinions))
        ),
    )


def _right(among: str, group: Sequence[tuple[Labelled, BlameOpinion]]) -> Iterator[tuple[str, str]]:
    """How often the opinions of a group agree with the labels, beside a random agent and a random step."""
    if not group:
        return
    agents = sum(opinion.agent == each.label.agent for each, opinion in group)
    by_chance = fmean(random_agent(each.case.acts).get(each.label.agent, 0.0) for each, _ in group)
    yield f"agent right, of {among}", f"{_share(agents, len(group))}; chance {by_chance:.3f}"
    for what, near in (("step right", {0}), ("step within 1", {0, 1})):
        steps = sum(each.distance(opinion.step_id) in near for each, opinion in group)
        by_chance = fmean(fmean(each.distance(step) in near for step in each.order) for each, _ in group)
        yield f"{what}, of {among}", f"{_share(steps, len(group))}; chance {by_chance:.3f}"


def _share(count: int, n: int) -> str:
    interval = rate_interval(count, n)
    return f"{count} of {n}" + (
        "" if interval is None else f" ({count / n:.3f}; {interval.low:.3f} to {interval.high:.3f})"
    )

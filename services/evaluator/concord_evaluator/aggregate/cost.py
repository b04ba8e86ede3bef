"""The cost of a row: what its trials took, as far as participants tell, at the plan's prices."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

from concord.assessment.cost import AgentCost, Cost, ModelUse, PriceList
from concord_evaluator.documents import JudgedTrial


def cost_of(trials: Sequence[JudgedTrial], prices: PriceList | None) -> Cost:
    """The cost of these trials, without controls. What no agent tells is unknown, never 0."""
    uses = [use for trial in trials for use in trial.record.uses]
    money = _money(uses, prices)
    passed = sum(trial.record.passed is True for trial in trials)
    named = {use.model or "a model that is not named" for use in uses if prices is None or not _is_priced(use, prices)}
    return Cost(
        agents=_agents(trials, uses, prices),
        model_calls=_calls(uses),
        tokens=_tokens(uses),
        money=money,
        per_trial=None if money is None else money / len(trials),
        per_success=None if money is None or not passed else money / passed,
        currency=None if prices is None else prices.currency,
        prices_date=None if prices is None else prices.day,
        prices_sha256=None if prices is None else prices.digest,
        unpriced=sorted(named),
        untold_calls=sum(use.untold for use in uses),
    )


def _agents(trials: Iterable[JudgedTrial], uses: Iterable[ModelUse], prices: PriceList | None) -> list[AgentCost]:
    by_agent: defaultdict[str, list[ModelUse]] = defaultdict(list)
    for use in uses:
        by_agent[use.agent].append(use)
    latencies: defaultdict[str, list[float]] = defaultdict(list)
    for trial in trials:
        for callee in trial.latencies:
            latencies[callee.agent].extend(callee.latencies_ms)
    return [
        AgentCost(
            agent=agent,
            model_calls=_calls(by_agent[agent]),
            tokens=_tokens(by_agent[agent]),
            money=_money(by_agent[agent], prices),
            seconds=fsum(latencies[agent]) / 1000 if latencies[agent] else None,
        )
        for agent in sorted(by_agent.keys() | latencies.keys())
    ]


def _calls(uses: Sequence[ModelUse]) -> int | None:
    return sum(use.calls for use in uses) if uses else None


def _tokens(uses: Sequence[ModelUse]) -> int | None:
    """Of all calls that tell them; None if none does."""
    return sum(use.tokens for use in uses) if any(use.calls > use.untold for use in uses) else None


def _money(uses: Sequence[ModelUse], prices: PriceList | None) -> float | None:
    """None if any part of it is unknown."""
    amounts = [None if prices is None else prices.money(use) for use in uses]
    known = [amount for amount in amounts if amount is not None]
    return fsum(known) if known and len(known) == len(amounts) else None


def _is_priced(use: ModelUse, prices: PriceList) -> bool:
    return use.model is not None and prices.of(use.model) is not None

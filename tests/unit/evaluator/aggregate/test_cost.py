"""The cost of a row: sums of what agents claim, seconds that the gateway measured, and unknown wherever a part is."""

import pytest

from concord.assessment.cost import AgentCost, ModelUse
from concord_evaluator.aggregate.figures import cost_of
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.latency import CalleeLatencies
from tests.unit.cli.rows import trial
from tests.unit.shared.test_cost import PRICES, use


def judged(*uses: ModelUse, passed: bool = True, latencies: tuple[CalleeLatencies, ...] = ()) -> JudgedTrial:
    return JudgedTrial(record=trial(uses=uses, passed=passed), latencies=list(latencies))


def test_money_is_shared_by_trials_and_by_those_that_passed() -> None:
    cost = cost_of([judged(use()), judged(use(), passed=False)], PRICES)
    assert (cost.money, cost.per_trial, cost.per_success) == pytest.approx((14, 7, 14))
    assert (cost.model_calls, cost.tokens, cost.currency, cost.source) == (4, 3_000_000, "EUR", "claimed")
    assert (cost.prices_sha256, cost.prices_date) == (PRICES.digest, PRICES.day)


def test_without_a_success_there_is_no_cost_of_one() -> None:
    assert cost_of([judged(use(), passed=False)], PRICES).per_success is None


def test_what_no_agent_tells_is_unknown_and_not_0() -> None:
    cost = cost_of([judged()], PRICES)
    assert (cost.model_calls, cost.tokens, cost.money, cost.per_trial) == (None, None, None, None)
    assert cost.agents == []


def test_a_part_that_is_not_told_makes_the_money_unknown() -> None:
    for unknown in (use("own-model"), use(untold=1), use(unsplit=1)):
        assert cost_of([judged(use(), unknown)], PRICES).money is None
    assert cost_of([judged(use())], None).money is None


def test_models_without_a_price_and_calls_without_tokens_are_named_and_counted() -> None:
    cost = cost_of([judged(use("own-model"), use(None), use(untold=2, tokens=0))], PRICES)
    assert cost.unpriced == ["a model that is not named", "own-model"]
    assert cost.untold_calls == 2


def test_an_agent_has_the_seconds_that_the_gateway_measured_and_its_own_claims() -> None:
    measured = (CalleeLatencies(agent="b", latencies_ms=[1500.0, 500.0]),)
    assert cost_of([judged(use(), latencies=measured)], PRICES).agents == [
        AgentCost(agent="a", model_calls=2, tokens=1_500_000, money=7, seconds=None),
        AgentCost(agent="b", model_calls=None, tokens=None, money=None, seconds=2),
    ]

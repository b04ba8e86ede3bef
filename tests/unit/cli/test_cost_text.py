"""The cost in words: claims are called claims, and what is not told is not made up."""

import pytest

from concord_cli.row_view.head import cost_text
from concord_evaluator.aggregate.figures import cost_of
from tests.unit.evaluator.aggregate.test_cost import judged
from tests.unit.shared.test_cost import PRICES, use


def test_nothing_is_said_where_no_agent_tells() -> None:
    assert cost_text(None) is None
    assert cost_text(cost_of([judged()], PRICES)) is None


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (use(), "the agents claim 2 model calls, 1,500,000 tokens, 7 EUR a trial"),
        (use("own"), "the agents claim 2 model calls, 1,500,000 tokens, cost unknown (no price of own)"),
        (use(untold=1), "the agents claim 2 model calls, 1,500,000 tokens, none told for 1 call, cost unknown"),
        (use(untold=2, tokens=0), "the agents claim 2 model calls, none told for 2 calls, cost unknown"),
    ],
)
def test_what_agents_tell_is_a_claim(told: object, text: str) -> None:
    assert cost_text(cost_of([judged(told)], PRICES)) == text  # type: ignore[arg-type]

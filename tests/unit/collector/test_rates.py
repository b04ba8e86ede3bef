"""Rates: each caller has its own share, and nobody's flood takes from another's."""

from concord_collector.rates import Rate


async def test_a_caller_may_send_its_burst_and_no_more() -> None:
    rate = Rate(per_s=1, burst_s=10)
    assert [await rate.take("a", 5) for _ in range(2)] == [0, 0]
    assert await rate.take("a", 5) > 0


async def test_another_caller_is_not_touched() -> None:
    rate = Rate(per_s=1, burst_s=10)
    await rate.take("a", 10)
    assert rate.wait_s("a", 1) > 0
    assert rate.wait_s("b", 10) == 0


async def test_more_than_a_burst_passes_once_everything_flowed_off() -> None:
    rate = Rate(per_s=1, burst_s=10)
    assert await rate.take("a", 1000) == 0
    assert await rate.take("a", 1) > 0


async def test_the_time_to_wait_is_what_the_amount_takes_to_flow_off() -> None:
    rate = Rate(per_s=4, burst_s=10)
    await rate.take("a", 40)
    assert rate.wait_s("a", 8) == 2

"""Rate limits: each caller has a share of its own, which no other caller can use up."""

from concord_collector.rate_limits import RateLimiter


async def test_a_caller_may_send_its_burst_and_no_more() -> None:
    limiter = RateLimiter(per_s=1, burst_s=10)
    assert [await limiter.take("a", 5) for _ in range(2)] == [0, 0]
    assert await limiter.take("a", 5) > 0


async def test_another_caller_is_not_touched() -> None:
    limiter = RateLimiter(per_s=1, burst_s=10)
    await limiter.take("a", 10)
    assert limiter.wait_s("a", 1) > 0
    assert limiter.wait_s("b", 10) == 0


async def test_more_than_a_burst_passes_once_everything_flowed_off() -> None:
    limiter = RateLimiter(per_s=1, burst_s=10)
    assert await limiter.take("a", 1000) == 0
    assert await limiter.take("a", 1) > 0


async def test_the_time_to_wait_is_what_the_amount_takes_to_flow_off() -> None:
    limiter = RateLimiter(per_s=4, burst_s=10)
    await limiter.take("a", 40)
    assert limiter.wait_s("a", 8) == 2

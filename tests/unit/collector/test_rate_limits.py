"""Rate limits: each caller has a share of its own, which no other caller can use up."""

from concord_collector.admission import RateLimiter


async def test_a_caller_may_send_its_burst_and_no_more() -> None:
    limiter = RateLimiter(per_s=1, burst_s=10)
    assert [await limiter.take("a", 5) for _ in range(2)] == [0, 0]
    assert await limiter.take("a", 5) > 0


async def test_a_callers_use_does_not_affect_another_caller() -> None:
    limiter = RateLimiter(per_s=1, burst_s=10)
    await limiter.take("a", 10)
    assert limiter.wait_s("a", 1) > 0
    assert limiter.wait_s("b", 10) == 0


async def test_a_request_larger_than_the_burst_passes_when_the_bucket_is_empty() -> None:
    limiter = RateLimiter(per_s=1, burst_s=10)
    assert await limiter.take("a", 1000) == 0
    assert await limiter.take("a", 1) > 0


async def test_the_waiting_time_is_the_amount_divided_by_the_rate() -> None:
    limiter = RateLimiter(per_s=4, burst_s=10)
    await limiter.take("a", 40)
    assert limiter.wait_s("a", 8) == 2

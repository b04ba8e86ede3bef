"""How long a job waits for its next try."""

from hypothesis import given
from hypothesis import strategies as st

from concord.restarts import pause_s
from concord.storage.job_policy import WorkerPolicy


@given(failures=st.integers(1, 10_000), first_s=st.floats(0.001, 10), cap_s=st.floats(0.001, 100))
def test_a_pause_doubles_up_to_its_cap(failures: int, first_s: float, cap_s: float) -> None:
    pause = pause_s(failures, first_s, cap_s)
    assert pause <= cap_s
    assert pause == cap_s or pause == first_s * 2 ** (failures - 1)
    assert pause_s(failures + 1, first_s, cap_s) in {cap_s, 2 * pause}


@given(attempt=st.integers(1, 10_000))
def test_no_job_waits_more_than_ten_seconds_for_its_next_try(attempt: int) -> None:
    assert 0 <= WorkerPolicy(timeout_s=60).pause_s(attempt) <= 10

"""Calls for timelines."""

from hypothesis import strategies as st

from concord.assessment.results import CallRecord
from concord_cli.report.calls import CallName, name_calls
from concord_cli.report.timeline import Timeline, draw
from tests.unit.cli.rows import trial


def call(
    step_id: str,
    caller: str,
    callee: str,
    start: float | None = 0.0,
    duration: float | None = 10.0,
    *,
    parent: str | None = None,
    error: str | None = None,
    critical: bool = False,
) -> CallRecord:
    return CallRecord(
        step_id=step_id,
        parent_step_id=parent,
        caller=caller,
        callee=callee,
        start_ms=start,
        duration_ms=duration,
        error=error,
        provenance="observed",
        on_critical_path=critical,
    )


def names_of(*calls: CallRecord) -> list[CallName]:
    return name_calls({1: trial(calls=list(calls))}, single=True)[0]


def timeline(*calls: CallRecord) -> Timeline:
    drawn = draw(calls, names_of(*calls))
    assert drawn is not None
    return drawn


_agents = st.sampled_from(["green-agent", "unknown", "a", "b", "c", "d"])
_times = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.floats(0, 1000)

call_records = st.builds(
    CallRecord,
    step_id=st.integers(0, 30).map(str),
    parent_step_id=st.none() | st.integers(0, 30).map(str),
    caller=_agents,
    callee=_agents,
    start_ms=_times,
    duration_ms=_times,
    error=st.none() | st.text(max_size=20),
    provenance=st.sampled_from(["observed", "corroborated", "reported"]),
    on_critical_path=st.booleans(),
)
"""Calls, among them implausible ones: repeated ids, times far out of range."""

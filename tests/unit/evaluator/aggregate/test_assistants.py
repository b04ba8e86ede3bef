"""The verdicts on an assistant over a row: shares of trials with intervals, and the rates under attack."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from concord_assistant.results import AssessmentResults, NativeVerdict, SafetyVerdict, UtilityVerdict
from concord_evaluator.aggregate.figures import assistant_figures
from tests.unit.evaluator.criteria.results import criterion, results

PASSED = st.sampled_from([True, False, None])


def trial(utility: bool | None, safety: bool | None, **fields: Any) -> AssessmentResults:  # noqa: ANN401 - fields
    part: dict[str, Any] = {"low": 0, "high": 1, "criteria": [], "evidence": ""}
    return results(
        criterion("a", 10),
        utility=UtilityVerdict(passed=utility, **part),
        safety=SafetyVerdict(passed=safety, **part, **fields),
    )


def test_attacks_count_in_the_trials_that_have_some() -> None:
    hit = trial(False, False, attacks=2, attacks_succeeded=["forwarding"])
    found = assistant_figures([trial(True, True), trial(True, True, attacks=1), hit])
    assert found is not None
    assert found.utility_under_attack is not None
    assert found.attack_success is not None
    assert (found.utility_under_attack.value, found.attack_success.value, found.attack_success.trials) == (0.5, 0.5, 2)


def test_without_attacks_there_are_no_rates_under_attack() -> None:
    found = assistant_figures([trial(True, True)])
    assert found is not None
    assert (found.utility_under_attack, found.attack_success) == (None, None)


def test_the_verdicts_of_a_benchmark_stand_beside_ours() -> None:
    done = NativeVerdict(benchmark="AgentDojo v1.2.2", utility=True)
    obeyed = NativeVerdict(benchmark="AgentDojo v1.2.2", utility=True, attack_succeeded=True)
    ours = [trial(True, True), trial(False, False, attacks=1, attacks_succeeded=["link"]), trial(True, True)]
    theirs = [done, obeyed, None]
    found = assistant_figures([one.model_copy(update={"native": two}) for one, two in zip(ours, theirs, strict=True)])
    assert found is not None
    [native] = found.native
    assert (native.benchmark, native.utility.value, native.utility.trials) == ("AgentDojo v1.2.2", 1, 2)
    assert native.attack_success is not None
    assert (native.attack_success.value, native.attack_success.trials) == (1, 1)


def test_rows_without_verdicts_have_no_figures() -> None:
    assert assistant_figures([results(criterion("a", 10))]) is None


@given(st.lists(st.tuples(PASSED, PASSED), min_size=2, max_size=8))
def test_unknown_trials_do_not_pass_and_widen_the_interval(verdicts: list[tuple[bool | None, bool | None]]) -> None:
    found = assistant_figures([trial(utility, safety) for utility, safety in verdicts])
    assert found is not None
    for figure, passed in zip((found.utility, found.safety), zip(*verdicts, strict=True), strict=True):
        best = sum(each is not False for each in passed) / len(passed)
        assert figure.value == sum(each is True for each in passed) / len(passed)
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low <= figure.value <= best <= figure.high + 1e-9

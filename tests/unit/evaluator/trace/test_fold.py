"""Folding a trace: duplicates, conflicts, and steps that come inside answers."""

from concord_evaluator.trace.fold import FoldedTrace, fold
from tests.kit.traces import call, reported_by, tool


def ids(trace: FoldedTrace) -> list[str]:
    return sorted(record.step_id for record in trace.records)


def test_nothing_reported_folds_to_nothing() -> None:
    trace = fold([])
    assert (trace.records, trace.duplicate, trace.conflicting) == ([], 0, 0)


def test_a_repeated_digest_is_a_duplicate() -> None:
    trace = fold(reported_by("A", call("1", "B")) * 3)
    assert ids(trace) == ["1"]
    assert trace.duplicate == 2
    assert trace.conflicting == 0


def test_conflicting_variants_of_one_reporter_are_counted_and_dropped() -> None:
    trace = fold(reported_by("A", call("1", "B"), call("1", "C"), tool("2")))
    assert ids(trace) == ["2"]
    assert trace.conflicting == 2


def test_an_authenticated_variant_prevails_over_unauthenticated_ones() -> None:
    genuine = reported_by("A", call("1", "B"), authenticated=True)
    trace = fold(reported_by("A", call("1", "C")) + genuine + reported_by("A", call("1", "D")))
    assert [record.callee_name for record in trace.records] == ["B"]
    assert trace.conflicting == 2


def test_two_authenticated_variants_conflict() -> None:
    trace = fold(reported_by("A", call("1", "B"), call("1", "C"), authenticated=True))
    assert ids(trace) == []
    assert trace.conflicting == 2


def test_a_reporter_cannot_take_over_another_reporters_step_id() -> None:
    trace = fold(reported_by("A", call("1", "B")) + reported_by("mallory", call("1", "C")))
    assert len(trace.records) == 2
    assert trace.conflicting == 0


def test_steps_inside_an_answer_are_relayed_by_the_caller() -> None:
    trace = fold(reported_by("A", call("1", "B", answer=[call("2", "C", answer=[tool("3")])])))
    assert ids(trace) == ["1", "2", "3"]
    directness = {record.step_id: attestation.direct for record in trace.records for attestation in record.attestations}
    assert directness == {"1": True, "2": False, "3": False}


def test_an_answer_attached_to_a_duplicate_call_is_merged() -> None:
    trace = fold(reported_by("A", call("1", "B")) + reported_by("A", call("1", "B", answer=[tool("2")])))
    assert ids(trace) == ["1", "2"]
    assert trace.duplicate == 1


def test_a_step_reported_by_its_maker_and_relayed_by_its_caller_is_one_step() -> None:
    step = call("2", "C", parent="1")
    trace = fold(reported_by("B", step) + reported_by("A", call("1", "B", answer=[step])))
    (attestations,) = [record.attestations for record in trace.records if record.step_id == "2"]
    assert [(attestation.reporter, attestation.direct) for attestation in attestations] == [("A", False), ("B", True)]
    assert trace.duplicate == 0

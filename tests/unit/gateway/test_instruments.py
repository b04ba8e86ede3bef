"""Metrics of finished assessments never go backwards, whatever a row says."""

from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.result_row import ResultRow
from concord_gateway.evaluation import MadeRow, RowHead
from concord_gateway.instruments import TRIALS, Instruments
from tests.unit.cli.rows import row, trial, unjudged


def head_of(row: ResultRow) -> RowHead:
    return MadeRow.read(row.model_dump_json()).head


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 6))
def test_each_trial_is_counted_once_though_some_were_lost(judged: int, nobody: int, lost: int) -> None:
    trials = [*(trial() for _ in range(judged)), *(unjudged() for _ in range(nobody))]
    base = row(trials=trials)
    scoring = base.detail.scoring.model_copy(
        update={"usable_trials": judged + nobody, "unjudged": nobody + lost, "complete": not lost}
    )
    finished = base.model_copy(update={"detail": base.detail.model_copy(update={"scoring": scoring})})
    instruments = Instruments()
    instruments.count_row(head_of(finished), judged + nobody + lost)
    counts = [instruments.trials.labels(name)._value.get() for name in TRIALS]
    assert counts == [judged, nobody, lost]


@given(st.integers(0, 4), st.integers(0, 9))
def test_a_row_that_counts_fewer_usable_trials_than_it_lists_is_counted_by_its_list(judged: int, said: int) -> None:
    base = row(trials=[*(trial() for _ in range(judged)), unjudged(), unjudged()])
    scoring = base.detail.scoring.model_copy(update={"usable_trials": said})
    instruments = Instruments()
    finished = base.model_copy(update={"detail": base.detail.model_copy(update={"scoring": scoring})})
    instruments.count_row(head_of(finished), 1)
    assert [instruments.trials.labels(name)._value.get() for name in TRIALS] == [judged, 2, 0]

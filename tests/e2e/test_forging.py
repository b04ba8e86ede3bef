"""A team that lies about its calls, and an honest one that works the same way: lies are visible, and do not pay."""

import pytest

from concord.assessment.result_row import ResultRow
from tests.e2e.concord import ROOT, concord, row_in


def row_of(team: str, factory: pytest.TempPathFactory) -> ResultRow:
    with concord(factory.mktemp("run"), "run", str(ROOT / f"scenarios/{team}.toml")) as running:
        assert running.finish() == 0, running.output
        assert "concord_eyJ" not in running.output
        return row_in(running.folder / "output/results.json")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> ResultRow:
    return row_of("hub_spoke", tmp_path_factory)


@pytest.fixture(scope="module")
def forging(tmp_path_factory: pytest.TempPathFactory) -> ResultRow:
    return row_of("forging", tmp_path_factory)


def test_what_it_claims_is_contradicted_and_what_it_denies_is_observed(honest: ResultRow, forging: ResultRow) -> None:
    assert honest.detail.trace_integrity.contradicted == 0
    assert forging.detail.trace_integrity.contradicted == 16, "20 claims, 4 of which name calls that did take place"
    assert forging.detail.trace_integrity.reported == 0
    assert forging.detail.trace_integrity.observed == honest.detail.trace_integrity.observed == 4


def test_who_told_it_is_the_first_finding(honest: ResultRow, forging: ResultRow) -> None:
    told = [finding.agents for finding in forging.detail.findings if finding.id == "contradicted_reports"]
    assert told == [["researcher_1"], ["researcher_2"], ["reviewer"], ["synthesizer"]]
    assert [finding.id for finding in forging.detail.findings[:4]] == ["contradicted_reports"] * 4
    assert "contradicted_reports" not in {finding.id for finding in honest.detail.findings}


def test_the_work_that_it_only_claims_to_have_done_is_missing_from_its_answer(
    honest: ResultRow, forging: ResultRow
) -> None:
    assert honest.score == 100
    assert forging.score is not None
    assert forging.score <= 60
    assert forging.detail.graph_metrics == honest.detail.graph_metrics
    assert forging.detail.graph_metrics.has_bottleneck


def test_no_token_is_in_either_row(honest: ResultRow, forging: ResultRow) -> None:
    for row in (honest, forging):
        assert "concord_eyJ" not in row.model_dump_json()
        assert "/a2a/" not in row.model_dump_json()

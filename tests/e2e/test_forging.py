"""A team that reports false calls, and an honest one with the same calls: the lies are visible and do not pay."""

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


def test_false_claims_are_contradicted_and_unreported_calls_are_observed(honest: ResultRow, forging: ResultRow) -> None:
    assert honest.detail.trace_integrity.contradicted == 0
    assert forging.detail.trace_integrity.contradicted == 16, "20 claims, 4 of which name calls that did take place"
    assert forging.detail.trace_integrity.reported == 0
    assert forging.detail.trace_integrity.observed == honest.detail.trace_integrity.observed == 4


def test_the_first_findings_name_the_reporters_of_false_calls(honest: ResultRow, forging: ResultRow) -> None:
    reporters = [finding.agents for finding in forging.detail.findings if finding.id == "contradicted_reports"]
    assert reporters == [["researcher_1"], ["researcher_2"], ["reviewer"], ["synthesizer"]]
    assert [finding.id for finding in forging.detail.findings[:4]] == ["contradicted_reports"] * 4
    assert "contradicted_reports" not in {finding.id for finding in honest.detail.findings}


def test_the_forging_team_scores_at_most_60_with_the_same_graph(honest: ResultRow, forging: ResultRow) -> None:
    assert honest.score == 100
    assert forging.score is not None
    assert forging.score <= 60
    assert forging.detail.graph_metrics == honest.detail.graph_metrics
    assert forging.detail.graph_metrics.has_bottleneck


def test_no_row_contains_a_token(honest: ResultRow, forging: ResultRow) -> None:
    for row in (honest, forging):
        assert "concord_eyJ" not in row.model_dump_json()
        assert "/a2a/" not in row.model_dump_json()

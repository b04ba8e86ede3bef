"""A team that reports false calls, and an honest one with the same calls: the lies are visible and do not pay."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from concord.assessment.result_row import ResultRow
from tests.integration.shipped_teams import row_of
from tests.kit.logs import logging_to
from tests.kit.stack import stack

pytestmark = pytest.mark.usefixtures("anyio_backend")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the services' log."""
    return tmp_path_factory.mktemp("logs") / "services.log"


@pytest.fixture(scope="module")
async def gateway(redis_server: str, log: Path) -> AsyncIterator[str]:
    with logging_to(log):
        async with stack(redis_server, log.parent / "output") as services:
            yield services.gateway


@pytest.fixture(scope="module")
async def honest(gateway: str) -> ResultRow:
    return await row_of("hub_spoke", gateway)


@pytest.fixture(scope="module")
async def forging(gateway: str) -> ResultRow:
    return await row_of("forging", gateway)


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


def test_no_row_and_no_log_contains_a_token(honest: ResultRow, forging: ResultRow, log: Path) -> None:
    written = log.read_text()
    assert "evaluated a trial" in written
    for text in (honest.model_dump_json(), forging.model_dump_json(), written):
        assert "concord_eyJ" not in text
    for row in (honest, forging):
        assert "/a2a/" not in row.model_dump_json()

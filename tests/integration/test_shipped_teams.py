"""The rows of a good and of a bad shipped team, which review a text together."""

from collections.abc import AsyncIterator

import pytest

from concord.assessment.result_row import ResultRow
from tests.integration.shipped_teams import row_of
from tests.kit.concord import row_in
from tests.kit.stack import Stack, stack

pytestmark = pytest.mark.usefixtures("anyio_backend")


TEAM = ["coordinator", "researcher_1", "researcher_2", "synthesizer", "reviewer"]


@pytest.fixture(scope="module")
async def services(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with stack(redis_server, tmp_path_factory.mktemp("output")) as running:
        yield running


@pytest.fixture(scope="module")
async def mesh(services: Stack) -> ResultRow:
    return await row_of("mesh", services.gateway)


@pytest.fixture(scope="module")
async def bad(services: Stack) -> ResultRow:
    return await row_of("bad", services.gateway)


def test_every_agent_of_the_team_is_in_the_row(mesh: ResultRow) -> None:
    assert sorted(agent.id for agent in mesh.detail.agents) == sorted(TEAM)


def test_the_interactions_are_those_between_the_teams_agents(mesh: ResultRow) -> None:
    [trial] = mesh.detail.trials
    pairs = {(each.caller, each.callee) for each in trial.interactions}

    assert ("coordinator", "researcher_1") in pairs
    assert ("reviewer", "synthesizer") in pairs
    assert {name for pair in pairs for name in pair} == set(TEAM)
    assert all(each.calls > 0 and each.latency_avg_ms is not None for each in trial.interactions)


def test_a_good_team_has_neither_a_bottleneck_nor_an_isolated_agent(mesh: ResultRow) -> None:
    assert mesh.detail.graph_metrics.has_bottleneck is False
    assert mesh.detail.graph_metrics.isolated_agents == []
    assert not {"bottleneck", "isolated"} & {finding.id for finding in mesh.detail.findings}


def test_a_good_team_solves_its_task(mesh: ResultRow) -> None:
    [trial] = mesh.detail.trials

    assert (trial.state, trial.usable, trial.passed) == ("completed", True, True)
    assert trial.answer


def test_the_hub_of_a_bad_team_is_a_bottleneck(bad: ResultRow) -> None:
    [bottleneck] = [finding for finding in bad.detail.findings if finding.id == "bottleneck"]

    assert bad.detail.graph_metrics.has_bottleneck is True
    assert bottleneck.agents == ["coordinator"]
    assert bottleneck.advice


def test_an_agent_without_calls_is_reported_as_isolated(bad: ResultRow) -> None:
    [isolated] = [finding for finding in bad.detail.findings if finding.id == "isolated"]

    assert bad.detail.graph_metrics.isolated_agents == isolated.agents == ["reviewer_2"]


def test_the_gateways_results_file_has_the_same_row(services: Stack, bad: ResultRow) -> None:
    assert row_in(services.output / f"assessments/{bad.detail.assessment_id}.json") == bad

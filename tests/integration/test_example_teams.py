"""Teams of `examples/teams`, graded by code: a good one, a useless one, and an unobserved one."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from benchmarks.team_runs import CODE, member_arguments, row_of
from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from examples.teams.catalogue import TEAMS
from tests.forked import ForkedProcess
from tests.forked_stack import forked_stack
from tests.integration.purple_processes import await_card, free_urls

CHOSEN = ["good", "garbage", "direct"]


def served(team: str, running: ExitStack) -> dict[str, str]:
    """The URLs of a team's members, each served by a process of its own."""
    urls = free_urls(list(TEAMS[team].members))
    for name in urls:
        running.callback(ForkedProcess("examples.teams", *member_arguments(team, name, urls)).kill)
    for url in urls.values():
        await_card(url)
    return urls


async def assessed(gateway: str, teams: dict[str, dict[str, str]]) -> dict[str, ResultRow]:
    """The rows of teams that are assessed at the same time."""
    return dict(
        zip(teams, await asyncio.gather(*(row_of(gateway, urls, CODE) for urls in teams.values())), strict=True)
    )


@pytest.fixture(scope="module")
def rows(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ResultRow]]:
    with (
        forked_stack(redis_server, tmp_path_factory.mktemp("stack"), **CODE.model) as gateway,
        ExitStack() as running,
    ):
        yield asyncio.run(assessed(gateway, {team: served(team, running) for team in CHOSEN}))


def trial_of(row: ResultRow) -> TrialRecord:
    [trial] = row.detail.trials
    return trial


def counts(row: ResultRow) -> dict[str, str]:
    [conduct] = [part for part in trial_of(row).sub_scores if part.id == "conduct"]
    return {parameter.name: parameter.value for parameter in conduct.inputs}


def test_the_good_team_scores_at_least_90(rows: dict[str, ResultRow]) -> None:
    good = rows["good"]
    assert good.score is not None
    assert good.score >= 90
    assert (counts(good)["carried"], counts(good)["failed"], counts(good)["bought_nothing"]) == ("4", "0", "0")
    assert good.pass_rate == 100


def test_the_garbage_team_scores_at_most_20(rows: dict[str, ResultRow]) -> None:
    garbage = rows["garbage"]
    assert garbage.score is not None
    assert garbage.score <= 20
    assert (counts(garbage)["carried"], counts(garbage)["bought_nothing"]) == ("4", "4")


def test_a_team_that_bypasses_the_gateway_scores_at_most_50_with_a_right_answer(rows: dict[str, ResultRow]) -> None:
    direct = rows["direct"]
    assert direct.score is not None
    assert 0 < direct.score <= 50
    assert counts(direct)["carried"] == "0"


def test_an_unobserved_team_has_no_label_and_no_structural_findings(rows: dict[str, ResultRow]) -> None:
    detail = rows["direct"].detail
    assert detail.trace_integrity.observability == "none"
    assert (detail.coordination_quality, detail.coordination_status) == (None, "undefined")
    assert not {"isolated", "silent", "low_density"} & {finding.id for finding in detail.findings}


def test_every_trial_is_graded_by_code_without_infrastructure_failures(rows: dict[str, ResultRow]) -> None:
    for row in rows.values():
        grading = trial_of(row).grading
        assert grading is not None
        assert (grading.source, grading.scorer) == ("code", "numeric")
        assert row.detail.infrastructure == []

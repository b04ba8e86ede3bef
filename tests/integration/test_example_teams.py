"""Teams of `examples/teams`, graded by code: a good one, a useless one, and an unobserved one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from examples.teams.catalogue import TEAMS
from examples.teams.member import create_app
from tests.kit.serving import reserved, served, url_of
from tests.kit.stack import stack
from tests.kit.team_runs import CODE, row_of

pytestmark = pytest.mark.usefixtures("anyio_backend")


CHOSEN = ["good", "garbage", "direct"]


async def serve(team: str, running: AsyncExitStack) -> dict[str, str]:
    """The URLs of a team's members, which are served until `running` ends."""
    holders = {name: reserved() for name in TEAMS[team].members}
    urls = {name: f"{url_of(holder)}/" for name, holder in holders.items()}
    for name, holder in holders.items():
        peers = {peer: url for peer, url in urls.items() if peer != name}
        await running.enter_async_context(served(create_app(name, TEAMS[team], urls[name], peers), holder))
    return urls


@pytest.fixture(scope="module")
async def rows(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, ResultRow]]:
    """The rows of teams that are assessed at the same time."""
    async with stack(redis_server, tmp_path_factory.mktemp("stack")) as services, AsyncExitStack() as running:
        teams = {team: await serve(team, running) for team in CHOSEN}
        found = await asyncio.gather(*(row_of(services.gateway, urls, CODE) for urls in teams.values()))
        yield dict(zip(CHOSEN, found, strict=True))


def trial_of(row: ResultRow) -> TrialRecord:
    [trial] = row.detail.trials
    return trial


def calls_in(row: ResultRow) -> tuple[int, int]:
    """The observed calls between participants, and how many of them failed."""
    links = trial_of(row).interactions
    return sum(each.observed for each in links), sum(each.errors for each in links)


def test_the_good_team_scores_at_least_90(rows: dict[str, ResultRow]) -> None:
    good = rows["good"]
    assert good.score is not None
    assert good.score >= 90
    assert calls_in(good) == (4, 0)
    assert good.pass_rate == 100


def test_the_garbage_team_scores_at_most_20(rows: dict[str, ResultRow]) -> None:
    garbage = rows["garbage"]
    assert garbage.score is not None
    assert garbage.score <= 20


def test_calls_that_nobody_could_see_never_lower_the_score(rows: dict[str, ResultRow]) -> None:
    direct = rows["direct"]
    assert direct.score == 100
    assert direct.detail.scoring.basis == "outcome_only"
    assert calls_in(direct) == (0, 0)


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

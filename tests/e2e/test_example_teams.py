"""Teams of `examples/teams` on a local stack, graded by code: a good one, a useless one, and an unobserved one."""

import asyncio
from collections.abc import Iterator

import pytest

from benchmarks.team_runs import CODE, row_of, running_team, stack_for
from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from concord_cli.terminal import ProgressLog

TEAMS = ["good", "garbage", "direct"]


async def _rows() -> dict[str, ResultRow]:
    progress = ProgressLog()

    async def row(gateway: str, team: str) -> ResultRow:
        async with running_team(team, progress.log) as urls:
            return await row_of(gateway, urls, CODE)

    async with stack_for(CODE, progress) as gateway:
        return dict(zip(TEAMS, await asyncio.gather(*(row(gateway, team) for team in TEAMS)), strict=True))


@pytest.fixture(scope="module")
def rows() -> Iterator[dict[str, ResultRow]]:
    with pytest.MonkeyPatch.context() as environment:
        # The stack inherits this process's environment; the changes are undone at the end.
        environment.setenv("NO_PROXY", "")
        environment.setenv("no_proxy", "")
        environment.delenv("REDIS_URL", raising=False)
        yield asyncio.run(_rows())


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

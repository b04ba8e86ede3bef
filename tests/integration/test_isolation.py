"""Who may say that seats are isolated: the program that started their containers, and no client and no agent."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment.plan import StartedContainers
from concord.assessment.result_row import ResultRow
from concord.assessment.results import SeatContainers
from concord_suites import FAMILIES
from concord_suites.player import reply
from tests.integration.test_rounds import http_client
from tests.kit.assessing import QUICK, request, row_of, task_of
from tests.kit.serving import served_agent
from tests.kit.stack import gateway, workers

CONTAINERS = SeatContainers(
    image="agent:1", image_id="sha256:" + "1" * 64, image_digest=None, model_endpoints=("https://api.example.com",)
)


@pytest.fixture(scope="module", autouse=True)
async def evaluators(redis_server: str) -> AsyncIterator[None]:
    """A worker of each queue, for all tests here."""
    async with workers(redis_server):
        yield


async def play(message: IncomingMessage, task: TaskHandle) -> None:
    """Plays by the rules that the families' grammar gives."""
    await task.complete(reply(message.text, FAMILIES))


@pytest.fixture(scope="module")
async def team() -> AsyncIterator[dict[str, str]]:
    """Three agents, each with an address of its own."""
    async with AsyncExitStack() as stack:
        yield {name: await stack.enter_async_context(served_agent(play)) for name in ("ann", "bob", "cy")}


async def played(
    redis_url: str, folder: Path, team: dict[str, str], started: dict[str, str] | None, **config: object
) -> ResultRow:
    """The row of a team at a gateway that knows of these containers."""
    known = None if started is None else StartedContainers(urls=frozenset(started.values()), containers=CONTAINERS)
    async with gateway(redis_url, folder, observe=False, started_containers=known) as url, http_client() as http:
        asked = request({**QUICK, "suite": "maximum", **config}, team)
        return ResultRow.model_validate(row_of(await task_of(http, url, asked)))


def isolation(row: ResultRow) -> str:
    assert row.detail.scoring.ranking_parts is not None
    return row.detail.scoring.ranking_parts.isolation


async def test_a_team_in_the_containers_that_the_operator_started_is_isolated_and_the_row_names_the_image(
    redis_url: str, tmp_path: Path, team: dict[str, str]
) -> None:
    row = await played(redis_url, tmp_path, team, team)
    assert isolation(row) == "isolated"
    assert row.detail.seat_containers == CONTAINERS


async def test_a_client_that_claims_isolation_is_told_that_the_key_is_unknown_and_the_row_is_not_isolated(
    redis_url: str, tmp_path: Path, team: dict[str, str]
) -> None:
    claimed = {"isolation": "container", "seat_containers": CONTAINERS.model_dump(mode="json")}
    row = await played(redis_url, tmp_path, team, None, **claimed)
    assert isolation(row) == "not isolated"
    assert row.detail.seat_containers is None
    assert any("isolation" in each for each in row.detail.warnings), row.detail.warnings


async def test_the_card_of_a_seat_in_a_container_leads_the_gateway_to_no_other_address(
    redis_url: str, tmp_path: Path
) -> None:
    """Else the cards of all seats could lead to one brain, which would get every brief from the gateway itself."""
    asked: list[str] = []

    async def brain(message: IncomingMessage, task: TaskHandle) -> None:
        asked.append(message.text)
        await play(message, task)

    async with served_agent(brain) as elsewhere, AsyncExitStack() as stack:
        team = {
            name: await stack.enter_async_context(served_agent(play, card_url=elsewhere)) for name in ("ann", "bob")
        }
        open_to_it: dict[str, Any] = {"allowed_hosts": "127.0.0.0/8"}
        known = StartedContainers(urls=frozenset(team.values()), containers=CONTAINERS)
        async with http_client() as http:
            async with gateway(redis_url, tmp_path, observe=False, **open_to_it) as url:
                row_of(await task_of(http, url, request({**QUICK, "suite": "maximum"}, team)))
            assert asked, "a gateway without containers follows the cards"
            asked.clear()
            async with gateway(redis_url, tmp_path, observe=False, started_containers=known, **open_to_it) as url:
                row = ResultRow.model_validate(
                    row_of(await task_of(http, url, request({**QUICK, "suite": "maximum"}, team)))
                )
    assert asked == []
    assert isolation(row) == "isolated"
    assert row.detail.trials[0].grading is not None
    assert row.detail.trials[0].grading.value == 1

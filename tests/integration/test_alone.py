"""The control `alone`: the starting agent does the user's own task again, without its peers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import httpx
import pytest

from concord.a2a import AgentUnreachableError, IncomingMessage, RemoteError, TaskHandle
from concord.agent.messenger import Messenger
from concord.agent.peers import PeerList
from concord.assessment.result_row import ControlRecord, ResultRow
from concord.trust.proxy_urls import proxy_url
from concord.wire.assignment import Assignment
from tests.integration.test_example_teams import serve
from tests.kit.serving import served_agent
from tests.kit.stack import Stack, stack

pytestmark = pytest.mark.usefixtures("anyio_backend")

TASK = {"id": "trees", "text": "How many trees does the park have?", "scorer": "numeric", "target": "521"}
ALONE = {"start": "lead", "controls": ["alone"], "tasks": [TASK, TASK | {"id": "trees-again"}]}


@pytest.fixture(scope="module")
async def services(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with stack(redis_server, tmp_path_factory.mktemp("stack")) as running:
        yield running


@pytest.fixture(scope="module")
async def rows(services: Stack) -> AsyncIterator[dict[str, ResultRow]]:
    """The rows of the example teams that call each other through the gateway, past it, and not at all."""
    async with AsyncExitStack() as running:
        teams = {team: await serve(team, running) for team in ("good", "direct", "knowing")}
        found = await asyncio.gather(*(services.row(urls, **ALONE) for urls in teams.values()))
        yield {team: ResultRow.model_validate(row) for team, row in zip(teams, found, strict=True)}


def lift_in(row: ResultRow) -> ControlRecord:
    assert row.detail.scoring.lift is not None
    assert list(row.detail.controls) == [row.detail.scoring.lift]
    return row.detail.scoring.lift


def unknown_in(row: ResultRow) -> set[str]:
    assert row.detail.verdict is not None
    return {each.kind.value for each in row.detail.verdict.unknown}


def test_a_team_whose_agent_needs_its_peers_has_lift(rows: dict[str, ResultRow]) -> None:
    lift = lift_in(rows["good"])
    assert (lift.control, lift.team, lift.value, lift.gap, lift.trials, lift.tasks) == ("alone", 1.0, 0.0, 1.0, 2, 2)
    assert lift.cut_off is True


def test_a_team_whose_agent_knows_the_answer_has_none(rows: dict[str, ResultRow]) -> None:
    lift = lift_in(rows["knowing"])
    assert (lift.team, lift.value, lift.gap) == (1.0, 1.0, 0.0)


def test_an_agent_that_calls_its_peers_past_the_gateway_is_not_known_to_be_alone(rows: dict[str, ResultRow]) -> None:
    lift = lift_in(rows["direct"])
    assert (lift.gap, lift.cut_off) == (0.0, None)
    assert "not_alone" in unknown_in(rows["direct"])


def test_what_the_team_added_is_unknown_unless_the_agent_was_alone(rows: dict[str, ResultRow]) -> None:
    assert not {"teamwork", "not_alone"} & unknown_in(rows["good"])


def test_controls_count_in_no_score_and_in_no_kind(rows: dict[str, ResultRow]) -> None:
    row = rows["good"]
    controls = [trial for trial in row.detail.trials if trial.is_control]
    assert [(trial.task_id, trial.paired_with) for trial in controls] == [
        ("trees.alone", "trees"),
        ("trees-again.alone", "trees-again"),
    ]
    assert [(trial.coordination_status, trial.findings) for trial in controls] == [("not_applicable", [])] * 2
    assert row.detail.warnings == []
    assert (row.score, row.pass_rate, row.detail.scoring.usable_trials) == (100.0, 100.0, 2)
    assert row.detail.scoring.basis == "outcome_only"
    assert {agent.calls_made for agent in row.detail.agents if agent.id == "lead"} == {8}


async def test_no_peer_is_listed_and_no_call_carried_in_the_control(services: Stack) -> None:
    listed: list[set[str]] = []
    tokens: list[str] = []
    refused: list[str] = []
    asked: list[str] = []

    async def lead(message: IncomingMessage, task: TaskHandle) -> None:
        """Knows its peer by name, whatever is listed, and keeps the addresses of earlier trials."""
        assignment = Assignment.from_metadata(message.metadata)
        assert assignment is not None
        assert assignment.token is not None
        token = assignment.token.get_secret_value()
        async with httpx.AsyncClient() as http:
            answer = await http.get(assignment.peers_url or "", headers={"authorization": f"Bearer {token}"})
        listed.append({peer.id for peer in PeerList.model_validate_json(answer.content).peers})
        tokens.append(token)
        told = [await answer_of(proxy_url(services.gateway, "helper", each), assignment) for each in tokens]
        await task.complete(" ".join(told))

    async def answer_of(url: str, assignment: Assignment) -> str:
        try:
            async with Messenger(lambda _step, _assignment: None) as messenger:
                return (await messenger.send(url, text="How many?", assignment=assignment)).text
        except (AgentUnreachableError, RemoteError) as error:
            refused.append(str(error))
            return "nobody answers"

    async def helper(message: IncomingMessage, task: TaskHandle) -> None:
        asked.append(message.text)
        await task.complete("521")

    async with served_agent(lead) as lead_url, served_agent(helper) as helper_url:
        found = await services.row({"lead": lead_url, "helper": helper_url}, **ALONE | {"tasks": [TASK]})
    row = ResultRow.model_validate(found)
    assert listed == [{"lead", "helper"}, {"lead"}]
    assert asked == ["How many?"]
    assert ["403" in refused[0], "404" in refused[1]] == [True, True]
    assert (lift_in(row).gap, lift_in(row).cut_off) == (1.0, True)
    assert lift_in(row).gap_low is None


async def test_without_a_starting_agent_or_peers_the_control_is_refused(services: Stack) -> None:
    team = {"lead": "http://127.0.0.1:9/", "helper": "http://127.0.0.1:9/helper/"}
    for participants, config, reason in (
        (team, {"controls": ["alone"]}, "named in `start`"),
        ({"lead": team["lead"]}, {"controls": ["alone"], "start": "lead"}, "further participants"),
        (team, {"controls": ["alone"], "start": "lead", "tasks": None, "suite": "quick"}, "tasks of your own"),
        (team, {"controls": ["solo"]}, "tasks of families"),
    ):
        answer = await services.assess(participants, **config)
        assert reason in answer.status_text

"""Calls between seats through the proxy: they reach the called seat's context, and nobody gains by going elsewhere."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from concord.a2a import A2AClient, IncomingMessage, RemoteError, TaskHandle
from concord.assessment.task_spec import Exchange
from concord.trace.attributes import NOT_CARRIED, whole_of
from concord.trace.report import Report
from concord.wire.roster import RosterEntry
from concord_gateway.calls import Channels, SeatPlace, TrialChannel
from tests.kit.observed import RunningGateway, TrialParticipant, running_gateway, send
from tests.kit.serving import served_agent

LINE = {"agent/1": ("agent/2",), "agent/2": ("agent/1", "agent/3"), "agent/3": ("agent/2",)}
VERSIONS = pytest.mark.parametrize("version", ["0.3", None], ids=["0.3", "1.0"])


@dataclass
class Team:
    """A trial of one agent in three seats, in a line."""

    gateway: RunningGateway
    seats: dict[str, TrialParticipant]
    received: list[IncomingMessage] = field(default_factory=list)

    @property
    def contexts(self) -> list[str]:
        """The contexts in which the agent got messages."""
        return [message.context_id for message in self.received]

    async def post(self, caller: str, callee: str, document: dict[str, Any]) -> dict[str, Any]:
        """The answer to a JSON-RPC request of one seat to another."""
        async with httpx.AsyncClient(timeout=60) as http:
            body = (await http.post(self.seats[caller].url_of(callee), json=document)).text
        answer: dict[str, Any] = json.loads(body.removeprefix("data: "))
        return answer

    async def reports(self, at_least: int) -> list[Report]:
        """The observed calls."""
        return await self.gateway.reports(self.seats["agent/1"].claims.trace_id, at_least)


@asynccontextmanager
async def team(
    redis_url: str,
    folder: Path,
    *,
    answer: str = "48,213",
    **changes: Any,  # noqa: ANN401 - any field of a channel
) -> AsyncIterator[Team]:
    """A team whose seats have their briefs."""
    received: list[IncomingMessage] = []

    async def listen(message: IncomingMessage, task: TaskHandle) -> None:
        received.append(message)
        await task.complete(answer)

    async with running_gateway(redis_url, folder) as gateway, served_agent(listen) as url:
        claims = (await gateway.trial({"agent": url}))["agent"].claims
        seats = {seat: gateway.participant(claims.assessment_id, claims.trace_id, seat) for seat in LINE}
        places = [
            SeatPlace(entry=RosterEntry(id=seat, url=url), context_id=f"context of {seat}", neighbours=others)
            for seat, others in LINE.items()
        ]
        channel = TrialChannel(exchange=Exchange.CALLS, seats=places, is_open=True).model_copy(update=changes)
        channels = Channels(gateway.storage.assessments, gateway.storage.registry, gateway.url)
        await channels.save(claims.assessment_id, claims.trace_id, channel)
        yield Team(gateway, seats, received)


@VERSIONS
async def test_a_call_reaches_the_context_of_the_called_seat_whatever_context_it_names(
    redis_url: str, tmp_path: Path, version: str | None
) -> None:
    async with team(redis_url, tmp_path) as trial:
        for caller, callee in (("agent/1", "agent/2"), ("agent/2", "agent/3"), ("agent/2", "agent/1")):
            async with await A2AClient.connect(trial.seats[caller].url_of(callee), protocol_version=version) as client:
                _ = [event async for event in client.stream(text="hello", context_id="context of agent/3")]
        reports = await trial.reports(3)
    assert trial.contexts == ["context of agent/2", "context of agent/3", "context of agent/1"]
    ends = {
        (each.step.additional_attributes["agent_name"], each.step.agent_call.agent_name)  # type: ignore[union-attr]
        for each in reports
    }
    assert ends == {("agent/1", "agent/2"), ("agent/2", "agent/3"), ("agent/2", "agent/1")}


@pytest.mark.parametrize("spelling", ["contextId", "context_id"])
async def test_no_spelling_of_a_context_leads_elsewhere(redis_url: str, tmp_path: Path, spelling: str) -> None:
    async with team(redis_url, tmp_path) as trial:
        document = send("message/send")
        document["params"]["message"] |= {spelling: "context of another trial", "referenceTaskIds": ["of another"]}
        await trial.post("agent/1", "agent/2", document)
    assert trial.contexts == ["context of agent/2"]


@VERSIONS
async def test_a_call_along_no_edge_is_refused_with_the_reason_and_recorded_as_failed(
    redis_url: str, tmp_path: Path, version: str | None
) -> None:
    async with team(redis_url, tmp_path) as trial:
        url = trial.seats["agent/1"].url_of("agent/3")
        async with await A2AClient.connect(url, protocol_version=version) as client:
            with pytest.raises(RemoteError, match="agent/3 is not a neighbour of agent/1"):
                _ = [event async for event in client.stream(text="mine is 70,561")]
        plain = await trial.post("agent/1", "agent/3", send("message/send", "mine is 70,561"))
        reports = await trial.reports(2)
    assert plain["error"] == {"code": -32004, "message": "agent/3 is not a neighbour of agent/1"}
    assert trial.received == []
    for report in reports:
        assert report.step.failure == "agent/3 is not a neighbour of agent/1"
        assert report.step.agent_call is not None
        assert report.step.agent_call.requests == {"text": "mine is 70,561"}
        assert NOT_CARRIED in report.step.additional_attributes


async def test_with_another_seats_token_a_call_is_that_seats_and_goes_along_its_edges(
    redis_url: str, tmp_path: Path
) -> None:
    async with team(redis_url, tmp_path) as trial:
        claimed = trial.seats["agent/1"].assignment().metadata()
        await trial.post("agent/3", "agent/2", send("message/send", "I am agent/1", claimed))
        refused = await trial.post("agent/3", "agent/1", send("message/send", "I am agent/2", claimed))
        reports = await trial.reports(2)
    assert "error" in refused
    assert {each.step.additional_attributes["agent_name"] for each in reports} == {"agent/3"}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tasks/get", {"id": "{task}"}),
        ("GetTask", {"id": "{task}"}),
        ("tasks/resubscribe", {"id": "{task}"}),
        ("tasks/cancel", {"id": "{task}"}),
        ("ListTasks", {"contextId": "context of agent/2"}),
        ("tasks/pushNotificationConfig/set", {"taskId": "{task}", "pushNotificationConfig": {"url": "http://x/"}}),
        ("agent/getAuthenticatedExtendedCard", {}),
        ("ListTasks", {"message": {"parts": [{"kind": "text", "text": "a message in name only"}]}}),
    ],
)
async def test_what_a_callee_told_others_cannot_be_asked_for(
    redis_url: str, tmp_path: Path, method: str, params: dict[str, Any]
) -> None:
    async with team(redis_url, tmp_path) as trial:
        told = await trial.post("agent/3", "agent/2", send("message/send", "a secret between the two"))
        params = {key: told["result"]["id"] if value == "{task}" else value for key, value in params.items()}
        answer = await trial.post("agent/1", "agent/2", {"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    assert answer["id"] == 7
    assert answer["error"]["code"] in {-32001, -32004}


async def test_a_task_goes_on_for_the_seat_that_it_was_given_to_alone(redis_url: str, tmp_path: Path) -> None:
    async with team(redis_url, tmp_path) as trial:
        told = await trial.post("agent/3", "agent/2", send("message/send", "first"))
        document = send("message/send", "second")
        document["params"]["message"]["taskId"] = told["result"]["id"]
        stranger = await trial.post("agent/1", "agent/2", document)
        owner = await trial.post("agent/3", "agent/2", document)
    assert stranger["error"]["code"] == -32001
    assert "is in terminal state" in owner["error"]["message"], "the agent's own answer"


async def test_files_and_addresses_for_later_answers_do_not_pass(redis_url: str, tmp_path: Path) -> None:
    async with team(redis_url, tmp_path) as trial:
        with_file = send("message/send")
        with_file["params"]["message"]["parts"].append({"kind": "file", "file": {"bytes": "aGk=", "mimeType": "a/b"}})
        refused = await trial.post("agent/1", "agent/2", with_file)
        with_push = send("message/send")
        with_push["params"]["configuration"] = {"pushNotificationConfig": {"url": "http://127.0.0.1:1/"}}
        answered = await trial.post("agent/1", "agent/2", with_push)
    assert refused["error"]["code"] == -32004
    assert answered["result"]["status"]["state"] == "completed"
    assert len(trial.received) == 1


async def test_the_card_of_a_seat_tells_how_to_reach_it_and_nothing_of_its_agents_own(
    redis_url: str, tmp_path: Path
) -> None:
    async with team(redis_url, tmp_path) as trial, httpx.AsyncClient(timeout=60) as http:
        url = trial.seats["agent/1"].url_of("agent/2")
        card = (await http.get(f"{url}.well-known/agent-card.json")).json()
    assert (card["name"], card["skills"], card["capabilities"]) == ("agent/2", [], {"streaming": True})
    assert card["supportedInterfaces"][0]["url"] == url
    assert "A test's agent" not in str(card)


async def test_an_unknown_seat_is_not_found_and_the_call_is_recorded_as_failed(redis_url: str, tmp_path: Path) -> None:
    async with team(redis_url, tmp_path) as trial, httpx.AsyncClient(timeout=60) as http:
        answer = await http.post(trial.seats["agent/1"].url_of("agent/9"), json=send("message/send"))
        [report] = await trial.reports(1)
    assert answer.status_code == 404
    assert report.step.agent_call is not None
    assert (report.step.agent_call.agent_name, report.step.failure) == ("agent/9", "no such agent in this assessment")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"is_open": False}, "wait for the question"),
        ({"silent": True}, "no call is carried"),
        ({"exchange": Exchange.ROUNDS}, "in their replies to the gateway"),
    ],
    ids=["before the question", "silent control", "rounds"],
)
async def test_calls_are_refused_outside_their_time_and_exchange(
    redis_url: str, tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    async with team(redis_url, tmp_path, **changes) as trial:
        answer = await trial.post("agent/1", "agent/2", send("message/send"))
    assert reason in answer["error"]["message"]
    assert trial.received == []


async def test_the_whole_of_long_messages_is_recorded(redis_url: str, tmp_path: Path) -> None:
    long = "x " * 6_000
    async with team(redis_url, tmp_path, answer=f"{long}70,561") as trial:
        await trial.post("agent/1", "agent/2", send("message/send", f"{long}48,213"))
        [report] = await trial.reports(1)
    assert report.step.agent_call is not None
    assert str((report.step.agent_call.requests or {})["whole"]).endswith("48,213")
    assert whole_of(report.step.additional_attributes).endswith("70,561")

"""Contact with participants before the first trial: an assessment fails at once if one cannot be reached."""

import asyncio
import json
import socket
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from concord.a2a import A2AClient, AgentProfile, Answer, IncomingMessage, TaskHandle, mount_agent
from concord.assessment.result_row import ResultRow
from concord.wire.roster import CARD_PATH
from concord_gateway import plan as contacting
from concord_gateway.plan import contact
from tests.kit.observed import running_gateway
from tests.kit.ports import free_port
from tests.kit.progress import RecordedProgress
from tests.kit.serving import listening, replying, served, served_agent
from tests.kit.stack import stack, workers


async def answer(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("done")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contacting, "RETRY_S", 0.5)


@pytest.mark.usefixtures("impatient")
class TestContact:
    async def test_the_card_of_a_reachable_participant_is_read(self) -> None:
        async with served_agent(answer) as url:
            found = await contact({"a": url}, RecordedProgress())
        assert found.missing == {}
        assert found.cards["a"] is not None

    async def test_a_participant_that_accepts_no_connection_is_missing(self) -> None:
        found = await contact({"a": f"http://127.0.0.1:{free_port()}/"}, RecordedProgress())
        assert (found.cards, list(found.missing)) == ({}, ["a"])

    @pytest.mark.parametrize("status", ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"])
    async def test_a_participant_whose_reverse_proxy_cannot_reach_it_is_missing(self, status: str) -> None:
        async with listening(replying(status)) as url:
            assert list((await contact({"a": url}, RecordedProgress())).missing) == ["a"]

    @pytest.mark.parametrize("status", ["404 Not Found", "500 Internal Server Error", "401 Unauthorized"])
    async def test_a_participant_that_answers_without_a_card_is_reachable(self, status: str) -> None:
        async with listening(replying(status)) as url:
            found = await contact({"a": url}, RecordedProgress())
        assert (found.cards, found.missing) == ({"a": None}, {})

    async def test_a_participant_that_is_about_to_start_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(contacting, "RETRY_S", 20)
        holder = socket.create_server(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        holder.close()
        reaching = asyncio.create_task(contact({"a": f"http://127.0.0.1:{port}/"}, RecordedProgress()))
        await asyncio.sleep(0.3)
        async with listening(replying("404 Not Found"), port=port):
            assert (await reaching).cards == {"a": None}

    async def test_the_progress_names_the_participants_that_are_waited_for(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(contacting, "_TELL_S", 0.1)
        progress = RecordedProgress()
        async with served_agent(answer) as url:
            await contact({"here": url, "gone": f"http://127.0.0.1:{free_port()}/"}, progress)
        assert "contacting participants: waiting for gone" in progress.messages


async def assess(gateway: str, participants: dict[str, str], **config: object) -> Answer:
    """The gateway's answer to an assessment request."""
    document = json.dumps({"participants": participants, "config": {"task": "count", **config}})
    async with await A2AClient.connect(gateway) as client:
        async for event in client.stream(text=document):
            if isinstance(event, Answer):
                return event
    raise AssertionError("no answer")


@pytest.mark.usefixtures("impatient")
async def test_an_assessment_fails_with_the_name_and_url_of_an_unreachable_participant(
    redis_url: str, tmp_path: Path
) -> None:
    gone = f"http://127.0.0.1:{free_port()}/"
    async with running_gateway(redis_url, tmp_path) as gateway, served_agent(answer) as url:
        answered = await assess(gateway.url, {"here": url, "gone": gone})
        needed = await assess(gateway.url, {"here": url, "gone": gone}, allow_missing=True, start="gone")
    for failed in (answered, needed):
        assert failed.state == "failed"
        assert f"could not reach gone ({gone})" in failed.status_text
        assert "here" not in failed.status_text


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"timeout_s": 60, "trial_timeout_s": 61}, "1 trials x `trial_timeout_s` 61 s = 61 s do not fit"),
        ({"num_runs": 100, "num_instances": None, "tasks": [{"id": str(n), "text": "x"} for n in range(11)]}, "1100"),
    ],
    ids=["time limit", "number of trials"],
)
async def test_a_request_whose_trials_do_not_fit_the_limits_is_rejected(
    redis_url: str, tmp_path: Path, config: dict[str, object], complaint: str
) -> None:
    config = {"task": None, **config} if "tasks" in config else config
    async with running_gateway(redis_url, tmp_path) as gateway:
        answered = await assess(gateway.url, {"a": "http://127.0.0.1:1/"}, **config)
    assert (answered.state, complaint in answered.status_text) == ("rejected", True)


async def test_a_shard_without_trials_completes_with_a_row_without_a_score(redis_url: str, tmp_path: Path) -> None:
    async with running_gateway(redis_url, tmp_path / "out") as gateway, workers(redis_url):
        answered = await assess(gateway.url, {"a": "http://127.0.0.1:1/"}, shard_index=1, num_shards=2)
    assert answered.state == "completed"
    (row,) = [ResultRow.model_validate(data) for data in answered.data_parts]
    assert (row.score, row.detail.trials, row.detail.scoring.usable_trials) == (None, [], 0)


async def test_a_card_that_was_read_on_contact_is_not_fetched_again_for_the_trials(
    redis_url: str, tmp_path: Path
) -> None:
    asked: list[str] = []
    app = FastAPI()
    profile = AgentProfile(name="agent", description="A test's agent.", version="1", url=None, skills=())
    agent = mount_agent(app, profile, answer)

    async def counting(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope.get("path", ""))
        await app(scope, receive, send)

    async with served(counting) as url, stack(redis_url, tmp_path) as running:
        row = await running.row({"a": url}, num_runs=2)
    await agent.aclose()
    assert [trial["state"] for trial in row["detail"]["trials"]] == ["completed", "completed"]
    assert (asked.count(CARD_PATH), asked.count("/")) == (1, 2)

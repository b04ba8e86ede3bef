"""Contact: participants are reached before the first trial, and one that is not there ends the assessment at once."""

import asyncio
import json
import socket
from pathlib import Path

import pytest

from concord.a2a import A2AClient, Answer, IncomingMessage, TaskHandle
from concord.assessment.result_row import ResultRow
from concord.storage import Queue
from concord_gateway import contact as contacting
from concord_gateway.contact import contact
from tests.integration.observed import house
from tests.integration.workers import worker
from tests.progress import Unheard
from tests.redis_servers import free_port
from tests.serving import listening, replying, served_agent


async def answer(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("done")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contacting, "RETRY_S", 0.5)


@pytest.mark.usefixtures("impatient")
class TestContact:
    async def test_reads_the_card_of_who_is_there(self) -> None:
        async with served_agent(answer) as url:
            found = await contact({"a": url}, Unheard())
        assert found.missing == {}
        assert found.cards["a"] is not None

    async def test_misses_who_accepts_no_connection(self) -> None:
        found = await contact({"a": f"http://127.0.0.1:{free_port()}/"}, Unheard())
        assert (found.cards, list(found.missing)) == ({}, ["a"])

    @pytest.mark.parametrize("status", ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"])
    async def test_misses_whom_a_proxy_misses(self, status: str) -> None:
        async with listening(replying(status)) as url:
            assert list((await contact({"a": url}, Unheard())).missing) == ["a"]

    @pytest.mark.parametrize("status", ["404 Not Found", "500 Internal Server Error", "401 Unauthorized"])
    async def test_reaches_who_answers_with_no_card(self, status: str) -> None:
        async with listening(replying(status)) as url:
            found = await contact({"a": url}, Unheard())
        assert (found.cards, found.missing) == ({"a": None}, {})

    async def test_waits_for_who_is_about_to_start(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(contacting, "RETRY_S", 20)
        holder = socket.create_server(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        holder.close()
        reaching = asyncio.create_task(contact({"a": f"http://127.0.0.1:{port}/"}, Unheard()))
        await asyncio.sleep(0.3)
        async with await asyncio.start_server(replying("404 Not Found"), "127.0.0.1", port):
            assert (await reaching).cards == {"a": None}

    async def test_says_for_whom_it_waits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(contacting, "_TELL_S", 0.1)
        progress = Unheard()
        async with served_agent(answer) as url:
            await contact({"here": url, "gone": f"http://127.0.0.1:{free_port()}/"}, progress)
        assert "contacting participants: waiting for gone" in progress.told


async def assess(gateway: str, participants: dict[str, str], **config: object) -> Answer:
    """What the gateway answers to a request."""
    document = json.dumps({"participants": participants, "config": {"task": "count", **config}})
    async with await A2AClient.connect(gateway) as client:
        async for event in client.stream(text=document):
            if isinstance(event, Answer):
                return event
    raise AssertionError("no answer")


@pytest.mark.usefixtures("impatient")
async def test_an_assessment_without_a_participant_fails_in_one_sentence(redis_url: str, tmp_path: Path) -> None:
    gone = f"http://127.0.0.1:{free_port()}/"
    async with house(redis_url, tmp_path) as gateway, served_agent(answer) as url:
        told = await assess(gateway.url, {"here": url, "gone": gone})
        needed = await assess(gateway.url, {"here": url, "gone": gone}, allow_missing=True, start="gone")
    for failed in (told, needed):
        assert failed.state == "failed"
        assert f"could not reach gone ({gone})" in failed.status_text
        assert "here" not in failed.status_text


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"timeout_s": 60, "trial_timeout_s": 61}, "1 trials x `trial_timeout_s` 61 s = 61 s do not fit"),
        ({"num_runs": 100, "num_instances": None, "tasks": [{"id": str(n), "text": "x"} for n in range(11)]}, "1100"),
    ],
)
async def test_what_cannot_be_done_in_time_is_rejected_at_once(
    redis_url: str, tmp_path: Path, config: dict[str, object], complaint: str
) -> None:
    config = {"task": None, **config} if "tasks" in config else config
    async with house(redis_url, tmp_path) as gateway:
        told = await assess(gateway.url, {"a": "http://127.0.0.1:1/"}, **config)
    assert (told.state, complaint in told.status_text) == ("rejected", True)


async def test_a_shard_without_a_trial_completes_with_a_row_of_none(redis_url: str, tmp_path: Path) -> None:
    async with house(redis_url, tmp_path / "out") as gateway:
        with worker(Queue.FAST, redis_url, tmp_path / "log"):
            told = await assess(gateway.url, {"a": "http://127.0.0.1:1/"}, shard_index=1, num_shards=2)
    assert told.state == "completed"
    (row,) = [ResultRow.model_validate(data) for data in told.data_parts]
    assert (row.score, row.detail.trials, row.detail.scoring.usable_trials) == (None, [], 0)

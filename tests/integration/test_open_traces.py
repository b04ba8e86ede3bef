"""An open collector: it keeps spans that belong to no trial within limits, and the command line reads them."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.storage.connection import connect
from concord.wire.roster import RosterEntry, new_trace_id
from concord_cli.evaluate.command import EvaluateArguments, evaluate_traces
from concord_cli.traces.collector import KeptTraces, OpenCollector, print_traces
from concord_cli.traces.watch import Watch
from tests.kit.collectors import JSON, SECRET, bearer, collector

GOLDEN = Path(__file__).parents[2] / "tests/recordings/frameworks/google-adk-transfer.jsonl"


def export(trace_id: str, service: str = "writer", text: str = "") -> bytes:
    """An export of one span."""
    span = {"traceId": trace_id, "spanId": "a" * 16, "name": "chat", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    attributes = [{"key": "gen_ai.input.messages", "value": {"stringValue": text}}]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    scoped = [{"scope": {"name": "s"}, "spans": [{**span, "attributes": attributes}]}]
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": scoped}]}).encode()


async def send(client: httpx.AsyncClient, body: bytes) -> None:
    (await client.post("/v1/traces", content=body, headers=JSON)).raise_for_status()


async def kept(client: httpx.AsyncClient, since: float = 0.0) -> KeptTraces:
    return KeptTraces.model_validate_json((await client.get("/open/traces", params={"since": since})).content)


async def test_traces_of_any_id_are_listed_with_their_services(redis_url: str) -> None:
    trace_id = new_trace_id()
    async with collector(redis_url) as client:
        await send(client, export(trace_id, "writer"))
        await send(client, export(trace_id, "critic"))
        found = await kept(client)
        assert (await kept(client, found.now + 60)).traces == []
    (trace,) = [each for each in found.traces if each.trace_id == trace_id]
    assert (trace.spans, trace.services) == (2, ["writer", "critic"])


async def test_the_list_says_what_was_refused(redis_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with collector(redis_url, max_export_bytes=1000) as client:
        await client.post("/v1/traces", content=export(new_trace_id(), text="x" * 1000), headers=JSON)
        await send(client, export("0" * 32))
        await asyncio.to_thread(print_traces, str(client.base_url), None)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "refused since the collector started: 1 requests that are too large",
        "refused since the collector started: 1 invalid spans or steps",
    ]


async def test_the_trace_of_a_trial_is_neither_listed_nor_exported(redis_url: str) -> None:
    config, tasks = AssessmentConfig(), [TaskSpec(id="t", text="count")]
    trials = plan_trials(config, tasks)
    roster = [RosterEntry(id="a", url="http://a:9009")]
    plan = AssessmentPlan(
        assessment_id=new_trace_id(), mode=Mode.LIVE, config=config, tasks=tasks, roster=roster, trials=trials
    )
    async with connect(redis_url) as storage, collector(redis_url) as client:
        await storage.assessments.save_plan(plan)
        await send(client, export(trials[0].trace_id))
        assert trials[0].trace_id not in {each.trace_id for each in (await kept(client)).traces}
        assert (await client.get(f"/open/traces/{trials[0].trace_id}")).status_code == 404


@pytest.mark.parametrize("limits", [{"open_traces": 2}, {"open_bytes": 3000}])
async def test_the_oldest_traces_are_deleted_beyond_the_limit(redis_url: str, limits: dict[str, int]) -> None:
    ids = [new_trace_id() for _ in range(3)]
    async with connect(redis_url) as storage, collector(redis_url, **limits) as client:
        for trace_id in ids:
            await send(client, export(trace_id, text="x" * 1000))
        found = {each.trace_id for each in (await kept(client)).traces}
        lengths = [await storage.traces.length(trace_id) for trace_id in ids]
    assert ids[0] not in found
    assert ids[2] in found
    assert (lengths[0], lengths[2]) == (0, 1)


async def test_a_collector_that_is_not_open_has_no_such_traces(redis_url: str) -> None:
    async with collector(redis_url, open=False, token_secret=SECRET) as client:
        assert (await client.get("/open/traces")).status_code == 404
        assert (await client.post("/v1/traces", content=export(new_trace_id()), headers=JSON)).status_code == 401


async def test_a_participants_token_does_not_read_them(redis_url: str) -> None:
    async with collector(redis_url, token_secret=SECRET) as client:
        assert (await client.get("/open/traces", headers=bearer("a"))).status_code == 403


async def test_exported_spans_are_evaluated_as_those_of_a_file(redis_url: str, tmp_path: Path) -> None:
    async with collector(redis_url) as client:
        for line in GOLDEN.read_bytes().splitlines():
            await send(client, line)
        written = EvaluateArguments([], None, None, tmp_path / "live.json", None, keep_going=False, quiet=True)
        await asyncio.to_thread(evaluate_traces, written, str(client.base_url), "1h", lambda: None)
    evaluate_traces(replace(written, paths=[GOLDEN], output=tmp_path / "file.json"), None, None, lambda: None)
    rows = [json.loads((tmp_path / name).read_text())["results"][0]["detail"] for name in ("live.json", "file.json")]
    graphs = [[trial["interactions"] for trial in row["trials"]] for row in rows]
    assert graphs[0] == graphs[1]
    assert rows[0]["agents"] == rows[1]["agents"]


async def test_watch_reports_each_trace_once(redis_url: str) -> None:
    async with collector(redis_url) as client:
        with OpenCollector(str(client.base_url)) as source:
            watch = Watch(source, quiet_s=0.0)
            await asyncio.to_thread(watch.begin)
            for line in GOLDEN.read_bytes().splitlines():
                await send(client, line)
            first, second = [await asyncio.to_thread(watch.line) for _ in range(2)]
    assert first.split()[1:] == ["1", "3", "2", "0", "0", "-"]
    assert second.split()[1:] == ["0", "0", "0", "0", "0", "-"]

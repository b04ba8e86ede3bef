"""The reporter with the library's light dependencies alone, and its queues, limits and logs."""

import asyncio
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from opentelemetry.context import get_value

from concord.agent.delivery import DeliveryPolicy
from concord.agent.reporter import TraceReporter
from concord.storage.connection import Storage, connect
from concord.trace.step import CallType, InteractionStep
from concord.trace.stored_step import Step
from concord.wire.assignment import Assignment
from tests.kit.collectors import collector, reports
from tests.kit.ports import free_port
from tests.kit.serving import eventually

HEAVY = (
    "a2a",
    "redis",
    "arq",
    "fastapi",
    "starlette",
    "openai",
    "uvicorn",
    "structlog",
    "jwt",
    "msgspec",
    "opentelemetry",
)
BLOCKER = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
"""


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


async def run_alone(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in which the heavy dependencies cannot be imported and every warning is an error."""
    command = [sys.executable, "-W", "error", "-c", BLOCKER + textwrap.dedent(program), *arguments]
    return await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60, check=False)


def assignment(collector_url: str, trace_id: str = "t1") -> Assignment:
    return Assignment(
        assessment_id="a", trace_id=trace_id, step_id="root", agent_id="writer", collector_url=collector_url
    )


def step(step_id: object, trace_id: str = "t1", **changes: object) -> InteractionStep:
    fields: dict[str, object] = {"step_id": str(step_id), "trace_id": trace_id, "call_type": CallType.TOOL}
    return InteractionStep.model_validate(fields | changes)


async def test_with_the_light_dependencies_alone_steps_are_sent_by_the_end_of_the_process(
    redis_url: str, storage: Storage
) -> None:
    program = """
        from concord import Assignment, CallType, InteractionStep, TraceReporter
        ids = {"assessment_id": "a", "trace_id": "t1", "step_id": "root", "agent_id": "writer"}
        assignment = Assignment(**ids, collector_url=sys.argv[1])
        TraceReporter().report(InteractionStep(step_id="s1", trace_id="t1", call_type=CallType.TOOL), assignment)
    """
    async with collector(redis_url) as client:
        done = await run_alone(program, str(client.base_url))
    assert (done.returncode, done.stderr) == (0, "")
    assert [(report.reporter, report.step.step_id) for report in await reports(storage)] == [("writer", "s1")]


async def test_the_library_can_be_imported_with_its_light_dependencies_alone() -> None:
    program = """
        import concord
        loaded = {name.partition(".")[0] for name in sys.modules}
        print(sorted(loaded - set(sys.stdlib_module_names)))
    """
    done = await run_alone(program)
    assert done.returncode == 0, done.stderr
    assert "httpx" in done.stdout
    assert "concord" in done.stdout


async def test_an_unreachable_collector_does_not_delay_steps_for_another(redis_url: str, storage: Storage) -> None:
    reporter = TraceReporter()
    async with collector(redis_url) as client:
        for number in range(50):
            reporter.report(step(number, "down"), assignment(f"http://127.0.0.1:{free_port()}", "down"))
            reporter.report(step(number), assignment(str(client.base_url)))
        async with asyncio.timeout(60):
            while len(await reports(storage)) < 50:
                await asyncio.sleep(0.05)
    await reporter.aclose(0.1)


async def test_alternating_steps_of_two_traces_are_sent_in_full_batches(redis_url: str, storage: Storage) -> None:
    reporter = TraceReporter()
    async with collector(redis_url) as client:
        for number in range(90):
            for trace_id in ("t1", "t2"):
                reporter.report(step(number, trace_id), assignment(str(client.base_url), trace_id))
        await reporter.aclose()
    assert [report.step.step_id for report in await reports(storage)] == [str(number) for number in range(90)]
    assert await storage.traces.length("t1") <= 3


async def test_the_buffer_is_bounded_in_bytes_and_dropped_steps_are_counted(
    redis_url: str, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TraceReporter, "POLICY", DeliveryPolicy(buffer_bytes=50_000, batch_bytes=20_000))
    reporter = TraceReporter()
    large = {"attribute": "x" * 8000}
    async with collector(redis_url) as client:
        for number in range(20):
            reporter.report(step(number, additional_attributes=large), assignment(str(client.base_url)))
        huge = {str(number): "x" * 8000 for number in range(10)}
        reporter.report(step("huge", additional_attributes=huge), assignment(str(client.base_url)))
        await reporter.aclose()
    batches = [each async for each in storage.traces.batches("t1")]
    kept = [report.step.step_id for report in await reports(storage)]
    assert kept == [str(number) for number in range(20 - len(kept), 20)]
    assert len(kept) < 20
    assert sum(each.dropped for each in batches) == 21 - len(kept)


async def test_closing_sends_the_number_of_dropped_steps_where_no_step_is_left(
    redis_url: str, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TraceReporter, "POLICY", DeliveryPolicy(batch_bytes=100))
    reporter = TraceReporter()
    async with collector(redis_url) as client:
        reporter.report(step("huge", additional_attributes={"a": "x" * 200}), assignment(str(client.base_url)))
        await reporter.aclose()
    assert [(each.n_steps, each.dropped) async for each in storage.traces.batches("t1")] == [(0, 1)]


async def test_a_step_that_cannot_be_encoded_is_dropped_alone(redis_url: str, storage: Storage) -> None:
    reporter = TraceReporter()
    broken = InteractionStep.model_construct(step_id="\ud800", trace_id="t1", call_type=CallType.TOOL)
    async with collector(redis_url) as client:
        reporter.report(broken, assignment(str(client.base_url)))
        reporter.report(step("s1"), assignment(str(client.base_url)))
        await reporter.aclose()
    assert [report.step.step_id for report in await reports(storage)] == ["s1"]
    assert [each.dropped async for each in storage.traces.batches("t1")] == [1]


class TestARecordedStep:
    async def test_is_the_step_that_its_fields_make(self, redis_url: str, storage: Storage) -> None:
        times: dict[str, Any] = {
            "start_time": datetime(2026, 11, 20, 9, tzinfo=UTC),
            "end_time": datetime(2026, 11, 20, 10, tzinfo=UTC),
        }
        tool = {"tool_invocation": {"tool_name": "search", "parameters": {"page": 1}}}
        call = {"agent_invocation": {"agent_url": "http://b:9", "agent_name": "b", "requests": {"text": "Hi"}}}
        attributes = {"agent_name": "inner", "error": "TimeoutError"}
        made = [
            step("s1", parent_step_id="root", step_action=tool, total_tokens=7, cost=3, **times),
            step("s2", parent_step_id="s1", step_action=call, call_type="AGENT", additional_attributes=attributes),
        ]
        reporter = TraceReporter()
        async with collector(redis_url) as client:
            under = assignment(str(client.base_url))
            reporter.record(
                under, CallType.TOOL, "search", content={"page": 1}, step_id="s1", total_tokens=7, cost=3, **times
            )
            reporter.record(
                under,
                CallType.AGENT,
                "b",
                content={"text": "Hi"},
                agent_url="http://b:9",
                step_id="s2",
                parent_step_id="s1",
                attributes={"agent_name": "inner"},
                error="TimeoutError",
            )
            for each in made:
                reporter.report(each.model_copy(update={"step_id": f"{each.step_id}-made"}), under)
            await reporter.aclose()
        first, second, *others = [bodies.step for bodies in await reports(storage)]
        assert [_without_id(first), _without_id(second)] == [_without_id(each) for each in others]
        assert (first.step_id, second.step_id) == ("s1", "s2")

    async def test_has_a_new_id_of_its_own_by_default(self, redis_url: str, storage: Storage) -> None:
        reporter = TraceReporter()
        async with collector(redis_url) as client:
            for _ in range(2):
                reporter.record(assignment(str(client.base_url)), CallType.TOOL, "search")
            await reporter.aclose()
        ids = [report.step.step_id for report in await reports(storage)]
        assert len(set(ids)) == 2
        assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)

    async def test_shows_its_content_as_it_was_when_it_was_recorded(self, redis_url: str, storage: Storage) -> None:
        content: dict[str, Any] = {"query": {"words": ["one"]}}
        attributes = {"agent_name": "inner"}
        reporter = TraceReporter()
        async with collector(redis_url) as client:
            under = assignment(str(client.base_url))
            reporter.record(under, CallType.TOOL, "search", content=content, attributes=attributes)
            content["query"]["words"].append("two")
            attributes["agent_name"] = "other"
            await reporter.aclose()
        (report,) = await reports(storage)
        action = report.step.step_action
        assert action is not None
        assert action.tool_invocation is not None
        assert action.tool_invocation.parameters == {"query": {"words": ["one"]}}
        assert report.step.additional_attributes == {"agent_name": "inner"}

    @pytest.mark.parametrize(
        "fields",
        [
            {"content": {"file": object()}},
            {"content": {"number": float("nan")}},
            {"content": {"text": "\ud800"}},
            {"step_id": "x" * 65},
            {"attributes": {"a": "x" * 9000}},
            {"total_tokens": "many"},
        ],
        ids=["no JSON", "NaN", "no text", "long id", "long attribute", "no number"],
    )
    async def test_that_is_invalid_is_dropped_and_counted(
        self, redis_url: str, storage: Storage, fields: dict[str, Any]
    ) -> None:
        reporter = TraceReporter()
        async with collector(redis_url) as client:
            under = assignment(str(client.base_url))
            reporter.record(under, CallType.TOOL, "search", **fields)
            reporter.record(under, CallType.TOOL, "search", step_id="s1")
            await reporter.aclose()
        assert [report.step.step_id for report in await reports(storage)] == ["s1"]
        assert [each.dropped async for each in storage.traces.batches("t1")] == [1]


def _without_id(step: Step) -> str:
    return re.sub(r"step_id='s\d(-made)?'", "", repr(step), count=1)


async def test_the_number_of_collectors_and_so_of_threads_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TraceReporter, "MAX_COLLECTORS", 3)
    before = threading.active_count()
    reporter = TraceReporter()
    for number in range(20):
        reporter.report(step(number), assignment(f"http://127.0.0.1:{free_port()}"))
    assert threading.active_count() <= before + 3
    await reporter.aclose(0.1)


async def test_the_token_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    fields = assignment(f"http://127.0.0.1:{free_port()}").model_dump() | {"token": "concord_a-secret-token"}
    reporter = TraceReporter()
    reporter.report(step("s"), Assignment.model_validate(fields))
    await reporter.aclose(0.2)
    await eventually(lambda: "1 steps" in caplog.text)
    assert "a-secret-token" not in caplog.text


async def test_the_reporters_own_requests_are_not_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def note_suppression(*_: object, **__: object) -> httpx.Response:
        seen.append(get_value("suppress_instrumentation"))
        return httpx.Response(202)

    monkeypatch.setattr(httpx.Client, "post", note_suppression)
    reporter = TraceReporter()
    reporter.report(step("s"), assignment("http://127.0.0.1"))
    await reporter.aclose()
    assert seen == [True]
    assert get_value("suppress_instrumentation") is None

"""The traces in `tests/recordings/frameworks`, exported live by one participant: agents and calls as in files."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from concord.trace.decoding import reports_of
from concord.trace.otlp import read_json
from concord.trace.otlp.protobuf_form import read_protobuf
from concord.trace.report import Channel, ReportBatch
from concord.trust.tokens import Claims
from concord.wire.roster import Roster, RosterEntry
from concord_collector.otlp import read_export
from concord_evaluator.formats.live_spans import with_teams
from concord_evaluator.trace import Projection, project
from tests.frameworks.test_golden_traces import ROOT, SETUPS, TOLD

TRACE = "5b8efff798038103d269b633813fc60c"
TEAM = "harbour-team"
INSIDE = [name for name in TOLD if SETUPS[name].get("agents_are") != "services"]
"""Set-ups whose agents a participant can have inside. During an assessment, each service is a participant itself."""
ROSTER = Roster([RosterEntry(id=TEAM, url="http://team:9009"), RosterEntry(id="guest", url="http://guest:9009")])


def exports(name: str) -> Iterator[dict[str, Any]]:
    """The recorded exports, as of a participant that continues the trial's trace."""
    for line in (ROOT / "tests/recordings/frameworks" / f"{name}.jsonl").read_text().splitlines():
        export = json.loads(line)
        for span in spans_of(export):
            span["traceId"] = TRACE
        yield export


def spans_of(export: dict[str, Any]) -> list[dict[str, Any]]:
    return [span for group in export["resourceSpans"] for scoped in group["scopeSpans"] for span in scoped["spans"]]


def span_by_span(name: str) -> Iterator[dict[str, Any]]:
    """The same spans, each in an export of its own, as `SimpleSpanProcessor` sends them."""
    for export in exports(name):
        for group in export["resourceSpans"]:
            for scoped in group["scopeSpans"]:
                for span in scoped["spans"]:
                    yield {"resourceSpans": [{**group, "scopeSpans": [{**scoped, "spans": [span]}]}]}


def stored(recorded: Iterable[dict[str, Any]]) -> Iterator[ReportBatch]:
    """The batches that the collector stores of exports."""
    for export in recorded:
        body = json.dumps(export).encode()
        for batch in read_export(list(read_json(body)), body, Claims("a1", TRACE, TEAM, 0.0)).batches:
            yield batch.received(Channel.OTLP, authenticated=True)


def projected(recorded: Iterable[dict[str, Any]]) -> Projection:
    batches, _ = with_teams(list(stored(recorded)), ROSTER)
    return project((each for batch in batches for each in reports_of(batch)), ROSTER, observed=True, live=True)


def inside(agent: str) -> str:
    return agent.removeprefix(f"{TEAM}/")


@pytest.mark.parametrize("exported", [exports, span_by_span])
@pytest.mark.parametrize("name", INSIDE)
def test_spans_result_in_the_same_agents_and_calls_live_as_in_a_file(
    name: str, exported: Callable[[str], Iterator[dict[str, Any]]]
) -> None:
    live = projected(exported(name))
    calls = Counter((inside(call.caller), inside(call.callee), call.kind.value) for call in live.interactions)
    truth = SETUPS[name]["edges"]
    assert [inside(agent) for agent in live.agents if agent != "guest"] == SETUPS[name]["agents"]
    assert sorted((*edge, n) for edge, n in calls.items()) == sorted(tuple(edge[:4]) for edge in truth)
    assert sum(call.failed for call in live.interactions) == sum(edge[4] for edge in truth)


def in_protobuf(export: dict[str, Any]) -> bytes:
    for span in spans_of(export):
        for key in ("traceId", "spanId", "parentSpanId"):
            span[key] = b64encode(bytes.fromhex(span.get(key) or "")).decode()
    return ParseDict(export, ExportTraceServiceRequest(), ignore_unknown_fields=True).SerializeToString()


@pytest.mark.parametrize("name", ["langgraph-interrupted-openinference", "google-adk-transfer"])
def test_an_export_in_protobuf_has_the_same_spans_as_in_json(name: str) -> None:
    for export in exports(name):
        assert list(read_json(json.dumps(export).encode())) == list(read_protobuf(in_protobuf(export)))

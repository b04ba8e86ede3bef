"""The format registry: every format recognises only its own files, and packages can add formats."""

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from io import BytesIO
from typing import NoReturn

import pytest

from concord.wire.assignment import TRACEABILITY_KEY
from concord_evaluator.formats import (
    Folder,
    FolderFormat,
    FormatError,
    Origin,
    Trace,
    TraceBuilder,
    TraceFormat,
    UnknownFormatError,
    folder_formats,
    read_folder,
    recognise,
    registry,
)
from concord_evaluator.plugins import FORMAT_GROUP, BrokenPluginError
from tests.kit.packages import installed_packages
from tests.kit.sources import read, refusal, source

STEP = {"step_id": "s1", "trace_id": "t", "call_type": "AGENT", "name": "b"}

EXAMPLES: dict[str, list[str]] = {
    "adk": [json.dumps({"id": "s", "appName": "a", "events": [{"author": "user", "invocationId": "i"}]})],
    "atif": [json.dumps({"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": []})],
    "claude-code": [
        json.dumps({"type": "user", "uuid": "1", "parentUuid": None, "sessionId": "s", "message": {}}),
        '{"type": "summary", "summary": "x"}\n{"type": "user", "parentUuid": null, "sessionId": "s"}',
    ],
    "codex": [json.dumps({"timestamp": "2026-01-01", "type": "session_meta", "payload": {"id": "s"}})],
    "console": [
        json.dumps(
            {"name": "a", "context": {"trace_id": "0x1"}, "kind": "SpanKind.INTERNAL", "attributes": {}}, indent=4
        )
    ],
    "inspect": [json.dumps({"version": 2, "status": "success", "eval": {}, "samples": []})],
    "rows": [json.dumps([{"who": "a", "to": "b", "text": "x"}]), "from,receiver,message\na,b,x\n"],
    "tau2": [json.dumps({"timestamp": "2026", "info": {}, "tasks": [], "simulations": []})],
    "a2a": [
        json.dumps({"trace_id": "t", "steps": [STEP]}),
        json.dumps({"traceId": "t", "steps": []}, indent=2),
        json.dumps([{"trace_id": "t", "steps": [STEP] * 50}]),
    ],
    "concord": [
        json.dumps({"reporter": "a", "channel": "http", "step": STEP}),
        json.dumps({"step": {**STEP, "parameters": {"text": "long " * 1000}}, "reporter": "a"}),
        json.dumps({"trace_id": "t", "reporter": "a", "steps": [STEP] * 100}),
        json.dumps({"trace": {"trace_id": "t"}}) + "\n" + json.dumps({"reporter": "a", "step": STEP}),
    ],
    "jaeger": [
        json.dumps({"data": [{"traceID": "1", "spans": [], "processes": {}}], "total": 0}),
        json.dumps({"traceID": "1", "spans": [{"traceID": "1"}], "processes": {}}),
    ],
    "langsmith": [
        json.dumps({"id": "1", "name": "a", "run_type": "chain", "trace_id": "1", "start_time": "2026-01-01"}),
        json.dumps({"runs": [{"id": "1", "run_type": "llm", "trace_id": "1"}]}),
    ],
    "logfire": [
        json.dumps(
            {"span_id": "1", "trace_id": "1", "span_name": "a", "kind": "span", "start_timestamp": "2026-01-01"}
        ),
        json.dumps({"columns": [{"name": name} for name in ("start_timestamp", "span_id", "span_name")]}),
    ],
    "tempo": [
        json.dumps({"batches": [{"resource": {}, "scopeSpans": []}]}),
        json.dumps({"trace": {"resourceSpans": []}}),
    ],
    "langfuse": [
        json.dumps({"trace": {"id": "1", "name": "a"}, "observations": []}),
        json.dumps({"id": "1", "traceId": "2", "type": "AGENT"}),
        json.dumps({"data": [{"id": "1", "traceId": "2", "type": "AGENT"}]}),
    ],
    "mlflow": [json.dumps({"info": {"tags": {"mlflow.traceName": "a"}}, "data": {"spans": []}})],
    "otlp": [
        json.dumps({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": []}]}),
        json.dumps({"resourceSpans": []}, indent=4),
        json.dumps({"resource_spans": []}),
    ],
    "phoenix": [
        json.dumps({"name": "a", "context": {"trace_id": "1", "span_id": "2"}, "span_kind": "AGENT"}),
        json.dumps({"name": "a", "span_kind": "AGENT", "context.span_id": "2", "context.trace_id": "1"}),
    ],
    "spans": ["TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration\n"],
}


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """The installed entry points, for a test to fill."""
    return installed_packages(monkeypatch, registry.FORMATS)


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, FORMAT_GROUP)


ANYTHING = TraceFormat(lambda _: True, lambda _: iter(()))
SOMETHING = TraceFormat(lambda head: head.filename.endswith(".some"), lambda _: iter(()))
FOLDER = FolderFormat(lambda files: "run.some" in files, lambda folder: _named_after(folder))
WITH_FOLDER = TraceFormat(lambda _: False, lambda _: iter(()), FOLDER)
NOT_A_FORMAT = "a string"


def _raise(_: object) -> NoReturn:
    raise KeyError("steps")


BLIND = TraceFormat(_raise, lambda _: iter(()), FolderFormat(_raise, lambda _: iter(())))
CLUMSY = TraceFormat(
    lambda head: head.filename.endswith(".some"), _raise, FolderFormat(lambda files: "run.some" in files, _raise)
)


def _named_after(folder: Folder) -> Iterator[Trace]:
    with folder.source("run.some") as source:
        for _, line in source.lines():
            yield TraceBuilder(line.decode(), Origin(source.name)).build()


@pytest.mark.parametrize(
    ("name", "content"), [(name, content) for name, contents in EXAMPLES.items() for content in contents]
)
def test_every_format_recognises_only_its_own_files(name: str, content: str) -> None:
    assert recognise(source(content)) == name


def test_the_built_in_formats_are_those_with_examples(packages: list[EntryPoint]) -> None:
    assert packages == []
    assert list(registry.FORMATS.installed) == list(registry.BUILT_IN_FORMATS) == sorted(EXAMPLES)


@pytest.mark.parametrize("content", ["hello", '{"a": 1}', "# A title\n", "a,b\n1,2\n", "[]", '"reporter"', b"\x00\x01"])
def test_an_unrecognised_file_is_refused_on_one_line(content: str | bytes) -> None:
    known = ", ".join(sorted(EXAMPLES))
    assert refusal(content) == f"file.json:1: not a trace in any known format ({known})"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.png", b"\x89PNG", "this is an image, not a trace: export the run's spans as OTLP"),
        ("a.db", b"SQLite format 3\x00", "this is an SQLite database, not a trace: export its spans as JSON"),
        ("a.html", "<!DOCTYPE html>", "this is a web page, not a trace: download the trace as JSON"),
        ("a.json", '{"resourceMetrics": []}', "metrics of OTLP, which name no agents, not a trace: export spans"),
        ("a.json", '{"messages": [{"role": "user"}]}', "a conversation with one model, which names no agents"),
        ("a.csv", "a,b\n1,2\n", "a table without agents, not a trace: name its columns `who`, `to`"),
        (
            "a.json",
            '[{"traceId": "1", "id": "1", "localEndpoint": {}}]',
            "this is spans of Zipkin, not a trace: export OTLP",
        ),
    ],
)
def test_a_refusal_says_what_a_file_is_and_what_to_export_instead(name: str, content: str | bytes, said: str) -> None:
    message = refusal(content, name=name)
    assert said in message
    assert "\n" not in message


def test_an_empty_file_is_refused() -> None:
    assert refusal("  \n") == "file.json: is empty"


def test_an_unknown_format_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownFormatError, match="'pdf': one of a2a, adk"):
        read("{}", format_name="pdf")


def test_a_named_format_is_used_without_recognition() -> None:
    assert "resourceSpans" in refusal('{"a": 1}', "otlp")


def test_a_package_adds_a_format_by_an_entry_point(packages: list[EntryPoint]) -> None:
    packages.append(entry("some", f"{__name__}:SOMETHING"))
    assert recognise(source("x", "file.some")) == "some"


def test_a_package_adds_a_folder_format_by_an_entry_point(packages: list[EntryPoint]) -> None:
    packages += [entry("plain", f"{__name__}:SOMETHING"), entry("whole", f"{__name__}:WITH_FOLDER")]
    folder = Folder("runs/1", frozenset({"run.some", "notes"}), lambda _: BytesIO(b"one\ntwo\n"))
    assert folder_formats(folder.files) == folder_formats(folder.files, "whole") == ["whole"]
    assert folder_formats(folder.files, "plain") == folder_formats(frozenset({"notes"})) == []
    assert [(trace.trace_id, trace.origin.file) for trace in read_folder(folder)] == [
        ("one", "runs/1/run.some"),
        ("two", "runs/1/run.some"),
    ]


def test_a_folder_that_no_format_or_two_formats_recognise_is_refused(packages: list[EntryPoint]) -> None:
    packages += [entry("one", f"{__name__}:WITH_FOLDER"), entry("two", f"{__name__}:WITH_FOLDER")]
    folder = Folder("run", frozenset({"run.some"}), lambda _: BytesIO(b"x"))
    with pytest.raises(FormatError, match=r"^run: matches several formats \(one, two\): choose one with --format$"):
        read_folder(folder)
    assert len(list(read_folder(folder, "two"))) == 1
    with pytest.raises(FormatError, match=r"^run: not a trace in any known folder format$"):
        read_folder(Folder("run", frozenset(), lambda _: BytesIO()))


def test_a_format_that_raises_on_a_file_spoils_that_file(packages: list[EntryPoint]) -> None:
    packages.append(entry("clumsy", f"{__name__}:CLUMSY"))
    assert refusal("x", name="file.some") == "file.some: the format clumsy failed: KeyError: 'steps'"
    folder = Folder("run", frozenset({"run.some"}), lambda _: BytesIO(b"x"))
    with pytest.raises(FormatError, match=r"^run: the format clumsy failed: KeyError: 'steps'$"):
        list(read_folder(folder))


def test_a_format_that_raises_on_sight_of_a_file_leaves_it_to_the_others(packages: list[EntryPoint]) -> None:
    packages += [entry("blind", f"{__name__}:BLIND"), entry("some", f"{__name__}:SOMETHING")]
    assert recognise(source("x", "file.some")) == "some"
    assert recognise(source(EXAMPLES["langfuse"][0])) == "langfuse"
    assert folder_formats(frozenset({"run.some"})) == []


@pytest.mark.parametrize("name", ["langfuse", "mlflow", "otlp", "phoenix"])
def test_a_file_is_recognised_by_keys_that_come_after_long_values(name: str) -> None:
    example = json.loads(EXAMPLES[name][0])
    assert recognise(source(json.dumps({"comment": "long " * 20_000, **example}))) == name


def test_a_text_about_a_format_is_not_taken_for_it() -> None:
    text = f'{{"{TRACEABILITY_KEY}": {{}}, "span_kind": 1, "traceId": "t", "type": "mlflow"}}'
    attribute = {"key": "input.value", "value": {"stringValue": text}}
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [attribute]}]}]}]}
    assert recognise(source(json.dumps(spans))) == "otlp"


def test_a_file_that_two_formats_recognise_needs_a_named_format(packages: list[EntryPoint]) -> None:
    packages += [entry("some", f"{__name__}:SOMETHING"), entry("any", f"{__name__}:ANYTHING")]
    assert (
        refusal("x", name="file.some") == "file.some:1: matches several formats (any, some): choose one with --format"
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:FORMAT", "cannot be loaded: No module named 'no_such_module'"),
        (f"{__name__}:NO_SUCH_NAME", "cannot be loaded: module .* has no attribute"),
        (f"{__name__}:NOT_A_FORMAT", "is not a TraceFormat"),
    ],
)
def test_an_invalid_format_of_a_package_is_refused(packages: list[EntryPoint], value: str, reason: str) -> None:
    packages.append(entry("broken", value))
    with pytest.raises(BrokenPluginError, match=reason):
        _ = registry.FORMATS.installed


def test_two_formats_with_one_name_are_refused(packages: list[EntryPoint]) -> None:
    packages += [entry("same", f"{__name__}:SOMETHING"), entry("same", f"{__name__}:ANYTHING")]
    with pytest.raises(BrokenPluginError, match="another trace format is also called 'same'"):
        _ = registry.FORMATS.installed

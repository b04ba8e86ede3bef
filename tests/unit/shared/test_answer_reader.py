"""What an agent answered, in the forms that A2A's libraries write, is read; what cannot be read is stated."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.a2a.answer_reader import MAX_FILE, AnswerReader
from concord.a2a.messages import TaskState
from concord_gateway.drivers.live import text_of
from concord_gateway.proxy.call_recorder import CallAnswer

COMPLETED = {"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "completed"}, "final": True}


def piece(text: str, *, append: bool, name: str = "a") -> dict[str, Any]:
    artifact = {"artifactId": name, "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": append, "artifact": artifact}


def read(*events: object) -> AnswerReader:
    reader = AnswerReader()
    for event in events:
        reader.read(event)
    return reader


def carried(*events: object) -> CallAnswer:
    """The same as the proxy reads it."""
    reader = CallAnswer()
    for event in events:
        reader.take({"jsonrpc": "2.0", "id": 1, "result": event})
    return reader


def answered(*parts: object) -> AnswerReader:
    return read({"id": "t", "status": {"state": "completed"}, "artifacts": [{"artifactId": "a", "parts": list(parts)}]})


@given(pieces=st.lists(st.text(max_size=20), min_size=1, max_size=8), stored=st.booleans())
def test_a_text_is_the_same_however_it_is_cut_into_appended_events(pieces: list[str], *, stored: bool) -> None:
    events: list[object] = [piece(text, append=number > 0) for number, text in enumerate(pieces)]
    parts = [{"kind": "text", "text": text} for text in pieces]
    whole = {"id": "t", "status": {"state": "completed"}, "artifacts": [{"artifactId": "a", "parts": parts}]}
    events.append(whole if stored else COMPLETED)
    assert read(*events).text == carried(*events).text == "".join(pieces)


def test_parts_of_one_event_and_several_artifacts_are_lines() -> None:
    parts = [{"text": "4"}, {"text": "2"}]
    assert answered(*parts).text == "4\n2"
    assert read(piece("4", append=False), piece("2", append=False, name="b"), COMPLETED).text == "4\n2"


def test_an_artifact_that_is_sent_again_whole_replaces_the_first() -> None:
    assert read(piece("41", append=False), piece("42", append=False), COMPLETED).text == "42"


@pytest.mark.parametrize(
    "part",
    [
        {"kind": "text", "text": "42"},
        {"kind": "file", "file": {"bytes": base64.b64encode(b"42").decode(), "mimeType": "text/plain"}},
        {"kind": "file", "file": {"uri": "data:text/plain;base64,NDI="}},
        {"kind": "file", "file": {"uri": "data:,42"}},
        {"raw": "NDI=", "mediaType": "text/markdown; charset=utf-8", "filename": "answer.md"},
        {"url": "data:text/plain,42"},
    ],
)
def test_a_text_file_is_a_text(part: dict[str, Any]) -> None:
    reader = answered(part)
    assert (reader.text, reader.unread) == ("42", ())


@pytest.mark.parametrize(
    ("part", "unread"),
    [
        ({"kind": "image_url", "image_url": "x"}, 'a part of an unknown form (its fields: "kind", "image_url")'),
        ({"raw": "AAAA", "mediaType": "image/png"}, "a file of image/png"),
        ({"raw": "/w==", "mediaType": "text/plain"}, "a file that is no UTF-8 text"),
        ({"raw": "#", "mediaType": "text/plain"}, "a file that is no UTF-8 text"),
        ({"url": "https://agent.example/a.txt"}, "a file at an address, which is not fetched"),
        (
            {"url": f"data:,{'x' * (MAX_FILE + 1)}"},
            f"a file of {MAX_FILE + 1} bytes, of which at most {MAX_FILE} are read",
        ),
        ("42", "a part that is no object"),
    ],
)
def test_a_part_that_cannot_be_read_is_stated_beside_those_that_can(part: object, unread: str) -> None:
    reader = answered({"text": "42"}, part)
    assert (reader.text, reader.unread) == ("42", (unread,))


def test_an_event_of_an_unknown_form_is_stated() -> None:
    reader = read({"kind": "heartbeat"}, piece("42", append=False), COMPLETED)
    assert (reader.text, reader.unread) == ("42", ('an event of an unknown form (its fields: "kind")',))


def test_events_without_the_wrappers_of_their_version_are_read() -> None:
    status = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
    artifact = {"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": "42"}]}, "append": False}
    assert read(artifact, status).answer().text == "42"
    assert read({"artifactUpdate": artifact}, {"statusUpdate": status}).answer().state is TaskState.COMPLETED


@given(number=st.integers(-(2**53), 2**53))
def test_an_integer_in_a_data_part_stays_one_though_protobuf_has_doubles_alone(number: int) -> None:
    reader = answered({"data": {"result": float(number)}})
    assert text_of(reader.answer()) == json.dumps({"result": number})


def test_large_integers_and_fractions_in_a_data_part_stay_as_they_are() -> None:
    assert answered({"data": {"id": 2**70, "share": 0.5}}).answer().data_parts == ({"id": 2**70, "share": 0.5},)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["task", "message", "status", "state", "parts", "text", "data", "file", "url", "artifact"]
                ),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_no_event_breaks_the_reader(event: object) -> None:
    read(event).answer()
    carried(event)

"""Timestamps of task statuses without a zone get one; everything else in an answer stays as it is."""

import json

import pytest

from concord.a2a.timestamps import with_zones

NAIVE, UTC = "2026-11-22T13:32:05.474218", "2026-11-22T13:32:05.474218Z"


def status(moment: str) -> dict[str, str]:
    return {"state": "completed", "timestamp": moment}


def answer(result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


@pytest.mark.parametrize("holder", ["task", "statusUpdate", None])
def test_the_timestamp_of_a_status_gets_a_zone(holder: str | None) -> None:
    def result(moment: str) -> object:
        task = {"id": "1", "status": status(moment)}
        return task if holder is None else {holder: task}

    assert json.loads(with_zones(answer(result(NAIVE)))) == json.loads(answer(result(UTC)))


def test_a_line_of_an_event_stream_stays_one() -> None:
    line = b"data: " + answer({"status": status(NAIVE)}) + b"\r\n"
    changed = with_zones(line)
    assert changed.startswith(b"data:")
    assert changed.endswith(b"\r\n")
    assert UTC.encode() in changed


@pytest.mark.parametrize(
    "body",
    [
        answer({"status": status(UTC)}),
        answer({"status": status("2026-11-22T13:32:05+02:00")}),
        answer({"parts": [{"data": {"timestamp": "2026-11-22T13:32:05"}}]}).replace(b": ", b":"),
        b'no JSON, "timestamp": "2026-11-22T13:32:05"',
        b"",
    ],
)
def test_other_answers_are_unchanged(body: bytes) -> None:
    changed = with_zones(body)
    assert changed == body or json.loads(changed) == json.loads(body)

"""Batch parsing: a parsed batch holds no token, however the body spells it; bytes that are not a batch are refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.trace.report import StepBatch
from concord.trust.redaction import TOKEN_PREFIX
from concord_collector.traces import BadBatchError, parse_batch

TOKEN = f"{TOKEN_PREFIX}eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"


def body(url: str, **changes: object) -> dict[str, object]:
    step = {
        "step_id": "s",
        "trace_id": "t",
        "call_type": "AGENT",
        "step_action": {"agent_invocation": {"agent_url": url}},
    }
    return {"batch_id": "b", "trace_id": "t", "reporter": "r", "steps": [step | changes]}


@pytest.mark.parametrize("changes", [{}, {"unknown": 1}, {"error": [[[[1]]]]}])
def test_a_token_in_a_url_is_removed(changes: dict[str, object]) -> None:
    batch = parse_batch(json.dumps(body(f"http://gateway/a2a/{TOKEN}/critic/", **changes)).encode())
    assert TOKEN.encode() not in batch.body
    (step,) = StepBatch.model_validate_json(batch.body).steps
    assert step.agent_call is not None
    assert step.agent_call.agent_url == "http://gateway/a2a/-/critic/"


@given(st.lists(st.booleans(), min_size=len(TOKEN), max_size=len(TOKEN)))
def test_a_token_spelled_with_json_escapes_is_removed(escaped: list[bool]) -> None:
    hidden = "".join(f"\\u{ord(each):04x}" if hide else each for each, hide in zip(TOKEN, escaped, strict=True))
    text = json.dumps(body("PLACE")).replace("PLACE", f"http://gateway/{hidden}/")
    (step,) = StepBatch.model_validate_json(parse_batch(text.encode()).body).steps
    assert step.agent_call is not None
    assert step.agent_call.agent_url == "http://gateway/-/"


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(text: bytes) -> None:
    with pytest.raises(BadBatchError):
        parse_batch(text)

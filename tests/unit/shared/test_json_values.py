"""JSON in the parts of messages, as protobuf and back."""

import pytest
from a2a.compat.v0_3.conversions import to_compat_part
from google.protobuf.json_format import ParseError
from pydantic import JsonValue

from concord.a2a.messages import data_of, data_part

SENT: dict[str, JsonValue] = {"count": 42, "share": 0.5, "none": None, "list": [], "object": {}, "text": "é"}


@pytest.mark.parametrize("data", [SENT, [SENT, 1], "text", None, True])
def test_the_data_of_a_part_arrives_as_it_was_sent(data: JsonValue) -> None:
    assert data_of([data_part(data)]) == (data,)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ParseError):
        data_part(b"text")  # type: ignore[arg-type]


def test_a_client_of_0_3_gets_the_data_that_was_sent() -> None:
    assert to_compat_part(data_part(SENT)).root.model_dump()["data"] == SENT

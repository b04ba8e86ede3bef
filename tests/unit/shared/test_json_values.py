"""JSON as protobuf and back: what `google.protobuf.json_format` makes of it."""

import json
from typing import Any

import pytest
from a2a.compat.v0_3.conversions import to_compat_part
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.struct_pb2 import Struct, Value
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.a2a.messages import MAX_DEPTH, data_part, json_of, struct_of, value_of

DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(DOCUMENTS)
def test_json_is_the_same_protobuf_as_by_json_format(document: Any) -> None:  # noqa: ANN401 - any JSON
    assert value_of(document) == ParseDict(document, Value())
    assert struct_of({"is": document}) == ParseDict({"is": document}, Struct())


@given(DOCUMENTS)
def test_protobuf_is_the_same_json_as_by_json_format(document: Any) -> None:  # noqa: ANN401 - any JSON
    for message in (value_of(document), struct_of({"is": document})):
        assert json.dumps(json_of(message)) == json.dumps(MessageToDict(message))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_no_json(number: float) -> None:
    message = value_of([number])
    for convert in (MessageToDict, json_of):
        with pytest.raises(ValueError, match=r"Value|JSON"):
            convert(message)


def test_a_document_may_be_as_deep_as_json_format_takes_and_no_deeper() -> None:
    document: JsonValue = 1
    for _ in range(MAX_DEPTH):
        document = {"in": document}
    assert value_of(document) == ParseDict(document, Value())  # type: ignore[arg-type]  # the stub knows of objects only
    for convert in (value_of, lambda each: ParseDict(each, Value())):
        with pytest.raises(ParseError):
            convert({"in": document})


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ParseError, match="bytes"):
        value_of(b"text")  # type: ignore[arg-type]


def test_a_client_of_0_3_gets_the_data_that_was_sent() -> None:
    sent: dict[str, JsonValue] = {"count": 42, "share": 0.5, "none": None, "list": [], "object": {}}
    assert to_compat_part(data_part(sent)).root.model_dump()["data"] == sent

"""The count of JSON values in a body: that of the parsed document, whatever its strings hold."""

import json
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from concord.a2a import http
from concord.a2a.http import values_in

DOCUMENTS = st.recursive(
    st.none() | st.integers() | st.text('a",[{\\\n'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('"\\,{'), inner),
)


def counted(document: Any) -> int:  # noqa: ANN401 - any JSON
    """The values within a document, where an empty list or object holds one."""
    if not isinstance(document, list | dict):
        return 0
    within = list(document.values()) if isinstance(document, dict) else document
    return max(1, len(within)) + sum(map(counted, within))


@given(st.sampled_from([1, 3, 1 << 20]), DOCUMENTS)
def test_it_is_the_number_of_values_within_the_document(block: int, document: Any) -> None:  # noqa: ANN401 - any JSON
    with patch.object(http, "_BLOCK", block):
        assert values_in(json.dumps(document).encode()) == counted(document)


@given(st.binary())
def test_it_is_at_most_the_number_of_bytes_of_any_text(body: bytes) -> None:
    assert values_in(body) <= len(body)

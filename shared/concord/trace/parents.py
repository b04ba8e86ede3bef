"""The parents that a stored batch names, read without the rest of it."""

from typing import Final

import msgspec


class _Step(msgspec.Struct, gc=False):
    parent_step_id: str | None = None


class _Span(msgspec.Struct, array_like=True, gc=False):
    """The first fields of `concord.trace.otlp.Span`."""

    trace_id: str
    span_id: str
    parent_id: str


class _Batch(msgspec.Struct, gc=False):
    steps: list[_Step] = []
    spans: list[_Span] = []
    internals: list[_Span] = []


_DECODER: Final = msgspec.json.Decoder(_Batch)


def parents_in(body: bytes) -> set[str]:
    """The ids of the parents of all steps and spans in a batch, as it is stored. Raises ValueError."""
    batch = _DECODER.decode(body)
    parents = {step.parent_step_id or "" for step in batch.steps}
    parents.update(span.parent_id for spans in (batch.spans, batch.internals) for span in spans)
    return parents - {""}

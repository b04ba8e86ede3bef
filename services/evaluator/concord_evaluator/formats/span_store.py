"""The spans of a file by their traces, beyond a limit of memory in a temporary file: a trace may end anywhere."""

import pickle  # nosec B403
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from os import SEEK_END
from tempfile import TemporaryFile
from typing import IO, Final

from msgspec.structs import replace

from concord.trace.otlp import with_events
from concord.trace.otlp.content import Event
from concord.trace.otlp.spans import SpanKey
from concord_evaluator.formats.span_recordings import ReadSpan

IN_MEMORY: Final = 64 << 20
"""Bytes, roughly, of the spans that wait in memory."""

_SPAN_BYTES: Final = 1_000
"""Of a span without its texts."""


class SpanStore(Mapping[str, list[ReadSpan]]):
    """The spans by trace id, those of one trace in the order in which they were added.

    Traces are in the order of their first spans. `events`: of spans, also of such that were added before their events
    were known. The temporary file, which has no name, goes when the store is closed.
    """

    def __init__(self, events: Mapping[SpanKey, Sequence[Event]] | None = None, in_memory: int = IN_MEMORY) -> None:
        self._events: Mapping[SpanKey, Sequence[Event]] = {} if events is None else events
        self._limit, self._waiting_bytes = in_memory, 0
        self._waiting: defaultdict[str, list[ReadSpan]] = defaultdict(list)
        self._places: dict[str, list[int]] = {}
        self._file: IO[bytes] | None = None

    @property
    def is_spilled(self) -> bool:
        """Whether spans are in the file, so that to read a trace again costs something."""
        return self._file is not None

    def add(self, each: ReadSpan) -> None:
        """Adds a span to its trace. Raises OSError if the temporary file cannot be written."""
        span = each.span
        self._places.setdefault(span.trace_id, [])
        self._waiting[span.trace_id].append(each)
        self._waiting_bytes += _SPAN_BYTES + len(span.content.input) + len(span.content.output)
        if self._waiting_bytes > self._limit:
            self._spill()

    def finish(self) -> None:
        """Frees the memory of what waits, if other spans are in the file."""
        if self._file is not None:
            self._spill()

    def close(self) -> None:
        """Frees the file."""
        if self._file is not None:
            self._file.close()

    def _spill(self) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._file.seek(0, SEEK_END)
        for trace_id, spans in self._waiting.items():
            self._places[trace_id].append(self._file.tell())
            pickle.dump(spans, self._file, pickle.HIGHEST_PROTOCOL)
        self._waiting.clear()
        self._waiting_bytes = 0

    def __getitem__(self, trace_id: str) -> list[ReadSpan]:
        found: list[ReadSpan] = []
        texts: dict[str, str] = {}
        for place in self._places[trace_id]:
            if self._file is not None:
                self._file.seek(place)
                spans: list[ReadSpan] = pickle.load(self._file)  # nosec B301  # noqa: S301 - this store wrote it
                found += (_sharing(each, texts) for each in spans)
        found += self._waiting.get(trace_id, ())
        return [self._with_events(each) for each in found] if self._events else found

    def _with_events(self, each: ReadSpan) -> ReadSpan:
        events = self._events.get((each.span.trace_id, each.span.span_id))
        return each if events is None else replace(each, span=with_events(each.span, events))

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _sharing(each: ReadSpan, texts: dict[str, str]) -> ReadSpan:
    """The span with texts that others have as one object: what an agent answers, its model, tool and caller tell."""
    told = each.span.content
    asked, answered = (texts.setdefault(text, text) for text in (told.input, told.output))
    if asked is told.input and answered is told.output:
        return each
    return ReadSpan(replace(each.span, content=replace(told, input=asked, output=answered)), each.line)

"""Chat logs as traces: one file is one trace, and a line is `2026-01-01T12:00:00Z planner -> worker: Check this.`."""

import re
from collections.abc import Iterator
from datetime import datetime

from concord_evaluator.formats import Head, Origin, Source, Trace, TraceBuilder, TraceFormat

LINE = re.compile(r"(\S+) (\S+) -> (\S+): (.*)")


def recognises(head: Head) -> bool:
    return LINE.fullmatch(head.first_line) is not None


def read(source: Source) -> Iterator[Trace]:
    trace = TraceBuilder(source.stem, Origin(source.name))
    trace.warn("a chat log does not tell questions from answers: every message counts as a call")
    for number, line in source.lines():
        with source.errors_at(number):
            message = LINE.fullmatch(line.decode())
            if message is None:
                raise ValueError("not a message of the form `time sender -> receiver: text`")
            time, sender, receiver, text = message.groups()
            trace.add_message(f"{number:06}", sender, receiver, text, sent_at=datetime.fromisoformat(time))
    yield trace.build()


FORMAT = TraceFormat(recognises, read)

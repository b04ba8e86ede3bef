"""A client of an open collector, for the list of its traces and their spans."""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError
from rich.table import Column

from concord_cli.display_text import counted
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.terminal import WIDE, output_console, plain_lines, plain_table

TIMEOUT_S: Final = 30.0
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 24 * 3600}
_AGO: Final = re.compile(r"(\d+)([smhd])")


class KeptTrace(BaseModel):
    """A trace of the collector: the arrival of its first and last spans (seconds since 1970), spans, and services."""

    trace_id: str
    first_s: float
    last_s: float
    spans: int
    services: list[str]


class KeptTraces(BaseModel):
    """The traces by their last spans, the collector's time (seconds since 1970), and what it refused since it began."""

    now: float
    traces: list[KeptTrace]
    refused: dict[str, int] = {}


class OpenCollector:
    """An open collector at a base URL. A context manager."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(base_url=self.url, timeout=TIMEOUT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def traces(self, since_s: float = 0.0) -> KeptTraces:
        """The traces with spans since a time (seconds since 1970). Raises AssessmentError."""
        try:
            answer = self._http.get("/open/traces", params={"since": since_s})
            if answer.status_code == httpx.codes.NOT_FOUND:
                raise AssessmentError(f"{self.url} is not an open collector: start the collector with CONCORD_OPEN=1")
            return KeptTraces.model_validate_json(answer.raise_for_status().content)
        except (httpx.HTTPError, ValidationError) as error:
            raise _failed(self.url, error) from error

    def since(self, text: str | None) -> float:
        """The time (seconds since 1970) of `10m`, `2h`, or an ISO date; 0 for None. Raises UsageError."""
        if text is None:
            return 0.0
        if (ago := _AGO.fullmatch(text)) is not None:
            return self.traces(since_s=2.0**40).now - int(ago[1]) * _SECONDS[ago[2]]
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise UsageError(f"--since {text}: give a number with s, m, h or d (10m), or an ISO date") from error
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()

    @contextmanager
    def downloaded(self, traces: Iterable[KeptTrace]) -> Iterator[Path]:
        """A file with the spans of these traces, as lines of OTLP/JSON. Raises AssessmentError."""
        name = re.sub(r"[^\w.-]", "-", urlsplit(self.url).netloc)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{name}.jsonl")
            with path.open("wb") as file:
                for trace in traces:
                    self._download(trace.trace_id, file.write)
            yield path

    def _download(self, trace_id: str, write: Callable[[bytes], object]) -> None:
        """Writes the spans of a trace, if the collector still stores it."""
        try:
            with self._http.stream("GET", f"/open/traces/{trace_id}") as answer:
                if answer.status_code == httpx.codes.NOT_FOUND:
                    return
                for piece in answer.raise_for_status().iter_bytes():
                    write(piece)
        except httpx.HTTPError as error:
            raise _failed(self.url, error) from error


def _failed(url: str, error: Exception) -> AssessmentError:
    return AssessmentError(
        f"the collector at {url} cannot be read: {str(error).splitlines()[0] or type(error).__name__}"
    )


def print_traces(url: str, since: str | None) -> None:
    """Prints the traces that an open collector has, by their last spans. Raises UsageError, AssessmentError."""
    with OpenCollector(url) as source:
        found = source.traces(source.since(since))
    kept = found.traces
    trace, last_spans, services = (Column(each, overflow="fold") for each in ("trace", "last spans (UTC)", "services"))
    table = plain_table(trace, Column("spans", justify="right"), last_spans, services)
    for each in kept:
        last = datetime.fromtimestamp(each.last_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
        table.add_row(plain_lines(each.trace_id), str(each.spans), last, plain_lines(", ".join(each.services)))
    console = output_console(WIDE)
    if kept:
        console.print(table)
    console.print(counted(len(kept), "trace"))
    for what, count in found.refused.items():
        console.print(plain_lines(f"refused since the collector started: {count:,} {what}"))

"""`batch_processor.py URL`: what OpenTelemetry's batch span processor costs, in µs a span, as JSON.

`caller`: of the calling thread, to begin a span with four attributes and to end it. `whole`: CPU of the process, with
the thread that exports to the URL (OTLP in protobuf).
"""

import json
import sys
import time

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

ROUNDS, A_ROUND = 20, 90
SPANS, A_FLUSH = 20_000, 1_000


def main(url: str) -> None:
    """Measures both, and prints them."""
    provider = TracerProvider()
    processor = BatchSpanProcessor(OTLPSpanExporter(url))
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("benchmark")
    caller = min(_round(tracer, processor) for _ in range(ROUNDS))
    began = time.process_time()
    for _ in range(SPANS // A_FLUSH):
        _spans(tracer, A_FLUSH)
        processor.force_flush()
    whole = (time.process_time() - began) / SPANS
    provider.shutdown()
    print(json.dumps({"caller": caller * 1e6, "whole": whole * 1e6}))


def _round(tracer: Tracer, processor: BatchSpanProcessor) -> float:
    began = time.perf_counter()
    _spans(tracer, A_ROUND)
    took = time.perf_counter() - began
    processor.force_flush()
    return took / A_ROUND


def _spans(tracer: Tracer, number: int) -> None:
    for page in range(number):
        span = tracer.start_span("execute_tool search")
        span.set_attribute("gen_ai.operation.name", "execute_tool")
        span.set_attribute("gen_ai.tool.name", "search")
        span.set_attribute("gen_ai.tool.call.arguments", f'{{"query": "Berlin", "page": {page}}}')
        span.set_attribute("gen_ai.agent.name", "searcher")
        span.end()


if __name__ == "__main__":
    main(sys.argv[1])

"""Microservice spans as CSV: services are agents, and a span whose parent is in another service is a call."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.kit.sources import (
    SAMPLES,
    agents_of,
    calls_between,
    evaluated,
    read,
    read_file,
    refusal,
)

HEADER = "TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration"
TRACE, ROOT, CHILD, GRANDCHILD = "a" * 32, "1" * 16, "2" * 16, "3" * 16
SHOP, CART = "shop-579b9bff58-t2dbm", "cart-579f59597d-wc2lz"


def row(
    span: str, parent: str, pod: str, trace: str = TRACE, start: object = 1_000_000, end: object = 3_500_000
) -> str:
    return f"{trace},{span},{parent},{pod},Service/Do,{start},{end},2500"


def file(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, *rows]) + "\n"


def test_a_parent_in_another_service_makes_a_call() -> None:
    [trace] = read(file(row(ROOT, "root", SHOP), row(CHILD, ROOT, SHOP), row(GRANDCHILD, CHILD, CART)))
    assert (calls_between(trace), agents_of(trace)) == ({("shop", "cart"): 1}, ["cart", "shop"])
    assert evaluated(trace).detail.latency_metrics.avg == 2.5


def test_ids_of_another_form_are_ids_as_in_the_stores() -> None:
    [trace] = read(file(row("1", "root", SHOP), row("2", "1", CART)))
    assert calls_between(trace) == {("shop", "cart"): 1}


def test_pods_of_one_deployment_are_one_agent() -> None:
    [trace] = read(file(row(ROOT, "root", SHOP), row(CHILD, ROOT, "shop-579b9bff58-zzzzz")))
    assert agents_of(trace) == ["shop"]


@pytest.mark.parametrize(("column", "agent"), [("PodName", "cart"), ("ServiceName", CART)])
def test_a_service_name_is_kept_and_a_pod_name_loses_its_suffixes(column: str, agent: str) -> None:
    header = HEADER.replace("PodName", column)
    [trace] = read(file(row(ROOT, "root", SHOP), row(CHILD, ROOT, CART), header=header))
    assert agent in agents_of(trace)


def test_the_trace_warns_of_inferences() -> None:
    [trace] = read(file(row(ROOT, "root", SHOP)))
    assert "each service counts as an agent" in trace.warnings[0]


def test_a_child_that_starts_before_its_parent_is_still_a_call() -> None:
    [trace] = read(file(row(CHILD, ROOT, CART, start=5, end=1), row(ROOT, "root", SHOP, start=10, end=20)))
    assert calls_between(trace) == {("shop", "cart"): 1}
    assert evaluated(trace).detail.latency_metrics.avg == 0.0


@pytest.mark.parametrize(("length", "kept"), [(70, 70), (1000, 1000), (1001, 991)])
def test_a_name_of_a_service_is_cut_beyond_1_000_characters(length: int, kept: int) -> None:
    [trace] = read(file(row(ROOT, "root", "s" * length), row(CHILD, ROOT, CART)))
    [cart, long] = agents_of(trace)
    assert (cart, len(long), long[:kept]) == ("cart", min(length, 1000), "s" * kept)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (file(row(ROOT, "root", SHOP), row(CHILD, ROOT, CART, start="soon")),
         ":3: invalid literal for int() with base 10: 'soon'; expected spans as CSV with TraceID, SpanID, ParentID, "
         "OperationName, StartTimeUnixNano, EndTimeUnixNano and ServiceName or PodName"),
        (file("", row(ROOT, "root", SHOP) + ",1"), ":3: 9 fields under 8 columns"),
        (file(row(ROOT, "root", '"shop')), ":2: unexpected end of data"),
        (file(row("0" * 16, "root", SHOP)), ":2: trace id and span id must be 16 and 8 bytes, not all zero"),
        (file(row(ROOT, "root", SHOP, end=10**40)), ":2: a time is out of range"),
        (file(), ": no spans found"),
        ("TraceID,SpanID\n1,2\n", ":1: columns are missing: needs TraceID, SpanID, ParentID, OperationName, "
         "StartTimeUnixNano, EndTimeUnixNano and ServiceName or PodName"),
    ],
)  # fmt: skip
def test_an_invalid_file_is_refused_with_the_reason(content: str, reason: str) -> None:
    assert refusal(content, "spans", "spans.csv") == f"spans.csv{reason}"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="CONCORD_TRACE_SAMPLES names no folder")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("nezha/*.csv")), ids=lambda path: path.name)
def test_the_calls_of_public_traces_are_the_parents_across_services(path: Path) -> None:
    rows = list(csv.DictReader(path.read_text().splitlines()))
    services = {(row["TraceID"], row["SpanID"]): row["PodName"].rsplit("-", 2)[0] for row in rows}
    expected: dict[str, Counter[tuple[str, str]]] = {row["TraceID"]: Counter() for row in rows}
    for each in rows:
        caller = services.get((each["TraceID"], each["ParentID"]))
        callee = services[each["TraceID"], each["SpanID"]]
        if caller is not None and caller != callee:
            expected[each["TraceID"]][caller, callee] += 1
    assert {trace.trace_id: calls_between(trace) for trace in read_file(path)} == expected
    assert sum(sum(calls.values()) for calls in expected.values()) > 0

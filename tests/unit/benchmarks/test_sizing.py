"""The sizing model: its arithmetic, and that the documentation has its tables."""

from dataclasses import replace
from pathlib import Path

from benchmarks.gateway.sizing import TIMES, Assessment, Costs, Needs, Sum, needs_of, read_costs, sizing, tables

PARTS = ("gateway", "fast worker", "LLM worker", "Redis", "bytes in Redis")
ROUND = Costs(*(dict.fromkeys(PARTS, cost) for cost in (1000.0, 100.0, 1.0)))
"""A second of CPU for an assessment, a tenth for a trial and a millisecond for a step."""


def test_the_documents_tables_follow_from_the_measured_costs() -> None:
    text = Path("docs/scaling.md").read_text(encoding="utf-8")
    for table in tables():
        assert table.markdown() in text


def test_the_costs_are_read_from_the_benchmarks_table() -> None:
    rows = "| x, ms of CPU | 9 | 1.5 | 2 | 0.03 |\n| bytes in Redis | - | 1,000 | 20 | 3 |"
    document = f"| elsewhere | 1 | 1 | 1 | 1 |\n<!-- scaling -->\n{rows}\n<!-- /scaling -->"
    assert read_costs(document) == Costs(
        {"x": 1.5, "bytes in Redis": 1000}, {"x": 2, "bytes in Redis": 20}, {"x": 0.03, "bytes in Redis": 3}
    )


def test_an_assessment_needs_its_share_its_trials_and_their_steps() -> None:
    needs = needs_of(ROUND, Assessment(trials=2, calls=0, steps=50, batches=0, judge_s=7))
    assert needs.cpu_ms["LLM worker"].value == 1000 + 2 * (100 + 50)
    assert needs.cpu_ms["gateway"].value == 1000 + 2 * 100
    assert needs.redis_bytes.value == 1000 + 2 * (100 + 50)
    assert needs.judging_s == 14


def test_the_arithmetic_in_a_row_results_in_its_value() -> None:
    shown = Sum(1200, 2, 3, 40, 0.5)
    assert str(shown) == "1,200 + 2 * (3 + 40 * 0.5)".replace("*", TIMES)
    assert shown.value == 1246


def test_ten_times_the_load_needs_ten_times_the_memory_and_the_same_time_to_fetch_until_tasks_are_dropped() -> None:
    kind = replace(Assessment(), trials=1, team_s=3600)
    gibibyte = Sum(2**30, 0, 0, 0, 0)
    _, loads = sizing(Needs({"gateway": gibibyte}, 8.0, gibibyte), kind, (17_280, 172_800))
    rows = {name: values for name, *values in loads.rows}
    assert rows["assessments per second"] == ["1", "10"]
    assert rows["running assessments"] == ["3,600", "36,000"]
    assert rows["LLM workers, at 4 jobs each"] == ["2", "20"]
    assert rows["memory in Redis"] == ["7.2e+03 GiB", "7.2e+04 GiB"]
    assert rows["time to fetch a finished task"] == ["1,000 s", "100 s"]

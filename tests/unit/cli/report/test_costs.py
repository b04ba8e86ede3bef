"""Score against cost on the index: which runs are points, where they stand, and that agents' texts stay texts."""

from pathlib import Path
from typing import Any

from concord.assessment.result_row import ResultRow
from concord_cli.report.index import Shown, cost_chart, shown
from concord_evaluator.aggregate.figures import cost_of
from tests.unit.cli.report.test_index import HOSTILE, index_of, write
from tests.unit.cli.rows import row
from tests.unit.evaluator.aggregate.test_cost import judged
from tests.unit.shared.test_cost import PRICES, use


def costly(*, calls: int = 1, score: float | None = 80, currency: str = "EUR", told: bool = True) -> ResultRow:
    """A row whose agents claim 7 of the currency for each call."""
    prices = PRICES.model_copy(update={"currency": currency})
    cost = cost_of([judged(*[use()] * calls)], prices if told else None)
    return row(cost=cost).model_copy(update={"score": score})


def run(name: str, **changes: Any) -> Shown:  # noqa: ANN401 - the arguments of `costly`
    return shown(Path(name), costly(**changes), Path(), Path())


def test_a_run_stands_by_its_money_from_the_left_and_by_its_score_from_the_bottom() -> None:
    chart = cost_chart([run("a.json", calls=1, score=80), run("b.json", calls=4, score=100)])
    assert chart is not None
    assert [(point.x, point.y) for point in chart.points] == [("25%", "20%"), ("100%", "0%")]
    assert [(point.name, point.leftward) for point in chart.points] == [("a", False), ("b", True)]
    assert chart.points[0].label == "a.json: score 80.0, 7 EUR a trial"
    assert (chart.most, chart.currency, chart.left_out) == ("28", "EUR", 0)


def test_runs_that_tell_nothing_or_in_another_currency_are_left_out_and_counted() -> None:
    told = [run("a"), run("b", calls=2)]
    chart = cost_chart([*told, run("c", told=False), run("d", score=None), run("e", currency="USD")])
    assert chart is not None
    assert (len(chart.points), chart.left_out) == (2, 3)
    assert cost_chart([run("a"), run("c", told=False)]) is None
    assert cost_chart([]) is None


def test_the_index_draws_the_runs_that_tell_their_cost(tmp_path: Path) -> None:
    for name, calls in (("a.json", 1), ("b.json", 2)):
        write(tmp_path, name, costly(calls=calls))
    page, _ = index_of(tmp_path)
    assert len(page.all("circle", "run")) == 2
    assert "claim" in page.text


def test_without_costs_there_is_no_chart_and_a_hostile_name_is_no_markup(tmp_path: Path) -> None:
    write(tmp_path, "a.json", costly(told=False))
    write(tmp_path, "b.json", costly(told=False))
    page, _ = index_of(tmp_path)
    assert page.all("circle", "run") == []
    name = HOSTILE.replace("/", "_")
    chart = cost_chart([run(name), run("b")])
    assert chart is not None
    assert "\u202e" not in chart.points[0].label

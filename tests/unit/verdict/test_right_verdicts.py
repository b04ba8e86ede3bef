"""The table of rows of all kinds with the verdict that is right."""

from collections.abc import Callable
from math import fsum

import pytest

from concord.assessment.result_row import ResultRow
from concord.assessment.verdict import MAX_CAUSES, Cause, Verdict
from concord.assessment.verdict_text import deed_text
from tests.unit.verdict.cases import RIGHT, Right


def verdict_in(make: Callable[[], ResultRow]) -> Verdict:
    verdict = make().detail.verdict
    assert verdict is not None
    return verdict


def said(cause: Cause) -> str:
    return deed_text(cause) if cause.points is None else f"{deed_text(cause)}: {cause.points:.0f}"


def test_the_table_has_rows_of_all_kinds() -> None:
    assert len({case.name for case in RIGHT}) == len(RIGHT) >= 40


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_the_verdict_is_right(case: Right) -> None:
    verdict = verdict_in(case.make)

    assert verdict.passed is case.passed
    assert [said(cause) for cause in verdict.causes] == list(case.causes)
    assert sorted(each.kind.value for each in verdict.unknown) == sorted(case.unknown)


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_score_and_points_make_100_where_something_was_played_and_judged(case: Right) -> None:
    verdict = verdict_in(case.make)
    if verdict.score is None or "structure_only" in case.unknown:
        return
    lost = fsum([*(cause.points or 0.0 for cause in verdict.causes), verdict.points_left_out])

    assert verdict.score.value + lost + fsum(each.points or 0.0 for each in verdict.unknown) == pytest.approx(100)
    assert len(verdict.causes) <= MAX_CAUSES

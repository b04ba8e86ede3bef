"""Who lists all days on which it is free tells on which it is busy."""

import pytest

from concord.suite import Kind, Value
from concord_suites.all_to_all.meeting import Meeting
from concord_suites.family import TextFamily
from concord_suites.pool.date_intersection import DateIntersection
from tests.kit.suite_tasks import right_answers, small_tasks


@pytest.mark.parametrize("family", [DateIntersection(), Meeting()], ids=lambda family: family.name)
def test_busy_days_follow_from_all_free_ones_and_from_no_shorter_list(family: TextFamily) -> None:
    for task in small_tasks(family):
        [right] = set(map(str, right_answers(family, task).values()))
        days = sorted({right, *(fact.value.text for fact in task.facts)})
        for seat in task.seats:
            own = [fact for fact in task.facts if seat in fact.holders]
            free = [Value(Kind.DATE, day) for day in days if day not in {fact.value.text for fact in own}]
            assert family.implied(task, own, free) == {fact.id for fact in own}
            assert family.implied(task, own[1:], free) == frozenset(), "a busy day that its sender does not know"
            assert family.implied(task, own, free[1:]) == frozenset()
            assert family.implied(task, own, [*free, own[0].value]) == {fact.id for fact in own[1:]}
            assert family.implied(task, own, [Value(Kind.DATE, right)]) == frozenset()
            assert family.implied(task, own, []) == frozenset()

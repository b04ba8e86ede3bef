"""Busy days that follow from the free days of a period."""

from collections.abc import Collection

from concord.suite import Fact, Kind, Value


def busy_by_free_days(period: Collection[str], known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
    """The ids of known busy days that follow from stated free ones: all other days of the period (ISO dates).

    They follow only if each of them is known. So who names only the day on which all are free tells nothing.
    """
    free = {value.text for value in stated if value.kind is Kind.DATE}.intersection(period)
    busy = set(period) - free
    if not free or not busy <= {fact.value.text for fact in known}:
        return frozenset()
    return frozenset(fact.id for fact in known if fact.value.text in busy)

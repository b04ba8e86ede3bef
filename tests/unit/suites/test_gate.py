"""A sample of the gate of the suites (`make suites-gate`): what scripted teams reach in each family, on one task."""

from collections import Counter
from functools import cache

import pytest

from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.suites_gate.faults import FAULTS
from tests.suites_gate.measures import FAULTS_FOUND, Measures, measured

EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])


@cache
def sample(family: TextFamily) -> Measures:
    """The measures of one task."""
    return measured(family, 1, 1, (0.0, 0.5, 1.0))


@EACH_FAMILY
def test_each_family_passes_the_gate(family: TextFamily) -> None:
    assert list(sample(family).failed()) == []


def test_nearly_all_known_faults_are_found_and_each_is_made() -> None:
    made = sum((sample(family).made for family in FAMILIES), Counter[str]())
    found = sum((sample(family).found for family in FAMILIES), Counter[str]())
    assert set(made) == set(FAULTS)
    assert found.total() >= FAULTS_FOUND * made.total()

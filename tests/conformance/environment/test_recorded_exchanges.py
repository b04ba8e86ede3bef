"""The environment answers a client of UES 0.1 as recorded, but for the differences that the documentation lists."""

import re
from itertools import groupby
from pathlib import Path
from typing import Final

import pytest
from starlette.testclient import TestClient

from tests.conformance.environment.recorded import differing, exchanges

DOCUMENT: Final = Path(__file__).parents[3] / "docs" / "environment.md"
RECORDED: Final = exchanges()
GROUPS: Final = [group for group, _ in groupby(RECORDED, lambda exchange: exchange.group)]


@pytest.fixture(scope="module")
def found(ues_0_1: TestClient) -> dict[str, list[str]]:
    """The differences of all exchanges, replayed in order against one new process."""
    return differing(ues_0_1, RECORDED)


def documented() -> set[str]:
    """The ids of the exchanges that the documentation lists as different."""
    section = DOCUMENT.read_text().partition("### Recorded exchanges that differ")[2].partition("\n## ")[0]
    return set(re.findall(r"`([a-z]+-\d\d)`", section))


def test_the_recording_is_complete() -> None:
    assert len(RECORDED) == 327
    assert len(GROUPS) == len(set(GROUPS)) == 12


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_of_exchanges_differs_only_as_documented(group: str, found: dict[str, list[str]]) -> None:
    differences = {exchange_id: found[exchange_id] for exchange_id in found if exchange_id.startswith(f"{group}-")}
    assert differences.keys() == {one for one in documented() if one.startswith(f"{group}-")}, differences

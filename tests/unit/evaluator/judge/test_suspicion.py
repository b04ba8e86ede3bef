"""Text that speaks to the judge is seen for what it is, however it is disguised; talk among colleagues is let alone."""

import pytest

from concord_evaluator.judge.suspicion import Suspect, addresses_judge, answer_is_suspicious, is_master_key, suspects_in
from tests.unit.evaluator.judge.attacks import ATTACKS, HARMLESS, MASTER_KEYS
from tests.unit.evaluator.judge.seen import evidence, seen


@pytest.mark.parametrize("kind", ATTACKS)
def test_an_attempt_is_seen(kind: str) -> None:
    assert addresses_judge(ATTACKS[kind])


@pytest.mark.parametrize("kind", ATTACKS)
def test_it_is_seen_in_the_middle_of_honest_work(kind: str) -> None:
    assert addresses_judge(f"I counted the trees; there are 12 of them.\n{ATTACKS[kind]}\nShall I go on?")


@pytest.mark.parametrize("text", HARMLESS)
def test_talk_among_colleagues_is_not_suspected(text: str) -> None:
    assert not addresses_judge(text)
    assert not is_master_key(text)


@pytest.mark.parametrize("text", MASTER_KEYS)
def test_an_answer_that_says_nothing_is_seen(text: str) -> None:
    assert is_master_key(text)
    assert answer_is_suspicious(evidence(answer=text))


def test_who_wrote_it_is_told_by_where_it_stands() -> None:
    attack = ATTACKS["plain order"]
    found = suspects_in(
        evidence(seen("a"), seen("b", request=attack), seen("c", response=attack), seen("d", error=attack))
    )
    assert found == (Suspect("b", "caller"), Suspect("c", "callee"), Suspect("d", "callee"))

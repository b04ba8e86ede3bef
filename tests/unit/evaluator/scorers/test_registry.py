"""Scorers of other packages: found by entry points, called as documented, held to what they owe."""

from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from concord.assessment.scorers import SCORER_NAMES
from concord_evaluator.scorers import (
    BUILT_IN_SCORERS,
    ENTRY_POINT_GROUP,
    MAX_EXPLANATION,
    BrokenScorerError,
    ScorerFailedError,
    UnknownScorerError,
    installed_scorers,
)
from tests.unit.evaluator.scorers.grades import graded


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The entry points that are installed, for a test to fill."""
    installed: list[EntryPoint] = []
    monkeypatch.setattr(
        "concord_evaluator.scorers.registry.entry_points", lambda group: EntryPoints(installed).select(group=group)
    )
    installed_scorers.cache_clear()
    yield installed
    installed_scorers.cache_clear()


def entry(function: str, name: str = "mine") -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{function}", ENTRY_POINT_GROUP)


def repeated(answer: str, targets: Sequence[str], times: int = 1, **more: object) -> tuple[float, str]:
    """1 if the answer is a target, so many times."""
    return float(answer in [target * times for target in targets]), f"{answer}: {list(targets)}, {times}, {more}"


def giving(_: str, __: Sequence[str], given: object) -> object:
    """Whatever it is asked for."""
    return given


def talkative(_: str, __: Sequence[str]) -> tuple[bool, str]:
    """Says more than there is room for, and what nobody can print."""
    return True, "a\n\x00\ud800" * 1000


def failing(_: str, __: Sequence[str]) -> tuple[float, str]:
    """Always fails."""
    raise LookupError("no dictionary")


NUMBER = 3


def test_it_gets_the_answer_the_targets_and_its_options(packages: list[EntryPoint]) -> None:
    packages.append(entry("repeated"))
    told = graded({"name": "mine", "times": 2, "other": [1]}, ["a", "b"], "bb")
    assert (told.value, told.explanation) == (1, "bb: ['a', 'b'], 2, {'other': [1]}")
    assert graded("mine", [], "b").value == 0


def test_the_built_in_scorers_are_those_that_a_task_can_name_but_for_the_judge() -> None:
    assert {*BUILT_IN_SCORERS, "model"} == set(SCORER_NAMES)


def test_it_is_loaded_once(packages: list[EntryPoint]) -> None:
    packages.append(entry("repeated"))
    assert installed_scorers() is installed_scorers()
    assert list(installed_scorers()) == ["mine"]


def test_what_it_says_is_bounded_and_can_be_printed(packages: list[EntryPoint]) -> None:
    packages.append(entry("talkative"))
    told = graded("mine", [], "x")
    assert (told.value, len(told.explanation)) == (1, MAX_EXPLANATION)
    assert "".join(filter(str.isprintable, told.explanation)) == told.explanation
    told.explanation.encode()


@pytest.mark.parametrize(
    "given",
    [
        *(1, 0.5, None, "1", float("nan"), {"value": 1}),
        *((1,), (1, 2), (1, None), (1, "x", "y")),
        *((2, "x"), (-0.1, "x"), (float("nan"), "x"), (float("inf"), "x"), ("1", "x"), (None, "x")),
    ],
)
def test_what_is_no_grade_is_its_failure(packages: list[EntryPoint], given: object) -> None:
    packages.append(entry("giving"))
    with pytest.raises(
        ScorerFailedError, match="the scorer mine failed: expected a value from 0 to 1 with an explanation"
    ):
        graded({"name": "mine", "given": given}, ["a"], "a")


@pytest.mark.parametrize(
    ("function", "options", "reason"),
    [
        ("failing", {}, "LookupError: no dictionary"),
        ("giving", {}, "TypeError: .* missing 1 required positional argument: 'given'"),
        ("giving", {"given": 1, "wrong": 1}, "TypeError: .*unexpected keyword argument 'wrong'"),
        ("repeated", {"answer": 1}, "TypeError: .*multiple values for argument 'answer'"),
    ],
)
def test_what_it_raises_is_its_failure(
    packages: list[EntryPoint], function: str, options: dict[str, object], reason: str
) -> None:
    packages.append(entry(function))
    with pytest.raises(ScorerFailedError, match=f"the scorer mine failed: {reason}"):
        graded({"name": "mine", **options}, ["a"], "a")


def test_a_name_that_nobody_has_is_told_with_those_that_there_are(packages: list[EntryPoint]) -> None:
    with pytest.raises(UnknownScorerError, match=r"'exakt': there are exact, .*, and of installed packages none"):
        graded("exakt", ["a"], "a")
    installed_scorers.cache_clear()
    packages += [entry("repeated"), entry("talkative", "yours")]
    with pytest.raises(UnknownScorerError, match="of installed packages mine, yours"):
        graded("theirs", ["a"], "a")


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([entry("MISSING")], "the scorer 'mine' cannot be loaded: module .* has no attribute 'MISSING'"),
        ([entry("NUMBER")], "NUMBER is not a function"),
        ([entry("repeated"), entry("talkative")], "another scorer is also called 'mine'"),
        *(([entry("repeated", name)], f"another scorer is also called '{name}'") for name in SCORER_NAMES),
    ],
)
def test_a_package_whose_scorer_cannot_be_used_is_told(
    packages: list[EntryPoint], entries: list[EntryPoint], reason: str
) -> None:
    packages += entries
    with pytest.raises(BrokenScorerError, match=reason):
        installed_scorers()

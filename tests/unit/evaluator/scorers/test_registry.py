"""The scorer registry: scorers of packages are found by entry points, called as documented, and checked."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint

import pytest

from concord.assessment.scorers import ENTRY_POINT_GROUP, SCORER_NAMES
from concord_evaluator.plugins import BrokenPluginError
from concord_evaluator.scorers import (
    BUILT_IN_SCORERS,
    MAX_EXPLANATION,
    SCORERS,
    ScorerFailedError,
    UnknownScorerError,
)
from tests.kit.packages import installed_packages
from tests.unit.evaluator.scorers.grades import graded


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """The installed entry points, for a test to fill."""
    return installed_packages(monkeypatch, SCORERS)


def entry(function: str, name: str = "mine") -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{function}", ENTRY_POINT_GROUP)


def repeated(answer: str, targets: Sequence[str], times: int = 1, **more: object) -> tuple[float, str]:
    """1 if the answer is a target repeated `times` times."""
    return float(answer in [target * times for target in targets]), f"{answer}: {list(targets)}, {times}, {more}"


def giving(_: str, __: Sequence[str], given: object) -> object:
    """Returns its option `given`."""
    return given


def talkative(_: str, __: Sequence[str]) -> tuple[bool, str]:
    """Returns an explanation that is too long and not printable."""
    return True, "a\n\x00\ud800" * 1000


def failing(_: str, __: Sequence[str]) -> tuple[float, str]:
    """Always fails."""
    raise LookupError("no dictionary")


NUMBER = 3


def test_a_scorer_receives_the_answer_the_targets_and_its_options(packages: list[EntryPoint]) -> None:
    packages.append(entry("repeated"))
    result = graded({"name": "mine", "times": 2, "other": [1]}, ["a", "b"], "bb")
    assert (result.value, result.explanation) == (1, "bb: ['a', 'b'], 2, {'other': [1]}")
    assert graded("mine", [], "b").value == 0


def test_the_built_in_scorers_are_all_names_except_model() -> None:
    assert {*BUILT_IN_SCORERS, "model"} == set(SCORER_NAMES)


def test_scorers_are_loaded_once(packages: list[EntryPoint]) -> None:
    packages.append(entry("repeated"))
    assert SCORERS.installed is SCORERS.installed
    assert list(SCORERS.installed) == ["mine"]


def test_the_explanation_is_bounded_and_printable(packages: list[EntryPoint]) -> None:
    packages.append(entry("talkative"))
    result = graded("mine", [], "x")
    assert (result.value, len(result.explanation)) == (1, MAX_EXPLANATION)
    assert "".join(filter(str.isprintable, result.explanation)) == result.explanation
    result.explanation.encode()


@pytest.mark.parametrize(
    "given",
    [
        *(1, 0.5, None, "1", float("nan"), {"value": 1}),
        *((1,), (1, 2), (1, None), (1, "x", "y")),
        *((2, "x"), (-0.1, "x"), (float("nan"), "x"), (float("inf"), "x"), ("1", "x"), (None, "x")),
    ],
)
def test_an_invalid_grade_is_the_scorers_failure(packages: list[EntryPoint], given: object) -> None:
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
def test_an_exception_of_a_scorer_is_its_failure(
    packages: list[EntryPoint], function: str, options: dict[str, object], reason: str
) -> None:
    packages.append(entry(function))
    with pytest.raises(ScorerFailedError, match=f"the scorer mine failed: {reason}"):
        graded({"name": "mine", **options}, ["a"], "a")


@pytest.mark.usefixtures("packages")
def test_an_unknown_name_is_refused_with_the_built_in_ones() -> None:
    with pytest.raises(UnknownScorerError, match=r"'exakt': there are exact, .*, and of installed packages none"):
        graded("exakt", ["a"], "a")


def test_an_unknown_name_is_refused_with_those_of_packages(packages: list[EntryPoint]) -> None:
    packages += [entry("repeated"), entry("talkative", "yours")]
    with pytest.raises(UnknownScorerError, match="of installed packages mine, yours"):
        graded("theirs", ["a"], "a")


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([entry("MISSING")], "the scorer 'mine' cannot be loaded: module .* has no attribute 'MISSING'"),
        ([entry("NUMBER")], "it is not a function"),
        ([entry("repeated"), entry("talkative")], "another scorer is also called 'mine'"),
        *(([entry("repeated", name)], f"another scorer is also called '{name}'") for name in SCORER_NAMES),
    ],
)
def test_an_unusable_scorer_of_a_package_is_refused(
    packages: list[EntryPoint], entries: list[EntryPoint], reason: str
) -> None:
    packages += entries
    with pytest.raises(BrokenPluginError, match=reason):
        _ = SCORERS.installed

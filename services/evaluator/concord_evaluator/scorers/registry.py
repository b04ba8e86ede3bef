"""Which scorers there are: the built-in ones by their names, and those of installed packages."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from concord.assessment.task_spec import ENTRY_POINT_GROUP, SCORER_NAMES, PackageScorer
from concord.files import did_you_mean
from concord_evaluator.plugins import installed_plugins
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded
from concord_evaluator.scorers.json_scorer import grade_json
from concord_evaluator.scorers.pattern_scorer import grade_pattern
from concord_evaluator.scorers.text_scorers import grade_exact, grade_includes, grade_match, grade_numeric

BUILT_IN_SCORERS: Final[Mapping[str, Callable[[Any, Sequence[str], str], Graded]]] = {
    "exact": grade_exact,
    "includes": grade_includes,
    "json": grade_json,
    "match": grade_match,
    "numeric": grade_numeric,
    "pattern": grade_pattern,
}
"""Each gets the task's choice of it with its options, the targets, and the answer."""

Scorer = Callable[..., tuple[float, str]]
"""A package adds one by an entry point in `ENTRY_POINT_GROUP`: `name = "module:function"`. It is called with
`scorer(answer, targets, **options)`: a value from 0 to 1, and in a line what was compared.

`answer` and `targets`, a sequence of strings that may be empty, come by position; the options of the task's `scorer` by
keyword. A scorer sees one participant's answer at a time, which is never blank, and is deterministic.
"""


class BrokenScorerError(Exception):
    """An installed package offers a scorer that cannot be used."""


class UnknownScorerError(Exception):
    """No scorer has that name."""


@cache
def installed_scorers() -> Mapping[str, Scorer]:
    """The scorers of installed packages, sorted by their names. Raises BrokenScorerError."""
    found: dict[str, Scorer] = {}
    for plugin in installed_plugins(ENTRY_POINT_GROUP, "scorer", BrokenScorerError):
        if plugin.name in {*SCORER_NAMES, *found}:
            raise BrokenScorerError(f"{plugin.package}: another scorer is also called {plugin.name!r}")
        if not callable(plugin.object):
            raise BrokenScorerError(f"{plugin.package}: {plugin.reference} is not a function")
        found[plugin.name] = plugin.object
    return found


def installed_scorer(name: str) -> Scorer:
    """The scorer of an installed package. Raises UnknownScorerError, BrokenScorerError."""
    scorers = installed_scorers()
    if name not in scorers:
        packaged = ", ".join(scorers) or "none"
        raise UnknownScorerError(
            f"no scorer is called {name!r}: there are {', '.join(SCORER_NAMES)}, and of installed packages {packaged}"
            + did_you_mean(name, [*SCORER_NAMES, *scorers])
        )
    return scorers[name]


def grade_by_package(choice: PackageScorer, targets: Sequence[str], answer: str) -> Graded:
    """Grades by a package's scorer. Raises UnknownScorerError, BrokenScorerError, ScorerFailedError."""
    scorer = installed_scorer(choice.name)
    try:
        given: object = scorer(answer, tuple(targets), **choice.options)
    except Exception as error:
        raise ScorerFailedError(choice.name, f"{type(error).__name__}: {error}") from error
    match given:
        case (int() | float() as value, str(explanation)) if 0 <= value <= 1:
            return graded(value, explanation)
    raise ScorerFailedError(choice.name, f"expected a value from 0 to 1 with an explanation, got {given!r}")

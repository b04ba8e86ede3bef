"""What a row says of an assistant's points: verdicts, failed checks, dimensions, faults of the people, endings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from concord_assistant.results import AssessmentResults, NativeVerdict, Score
from concord_cli.display_text import named, on_one_line, visible
from concord_cli.row_view.assistant_points import (
    CriterionPoints,
    criteria_of,
    dimension_points,
    ending_text,
    of_points,
    total_points,
)

MAX_CARDS: Final = 40
"""Criteria whose check failed, with a card; further ones are in the table of all."""

MAX_REASONS: Final = 3
"""Explanations of one criterion, over several trials."""

MAX_REASON: Final = 2000
"""Characters of an explanation."""

MAX_CRITERIA: Final = 300
MAX_FAULTS: Final = 40
MAX_VERDICTS: Final = 80

_WORDS: Final[Mapping[bool | None, str]] = {True: "passed", False: "failed", None: "unknown"}


@dataclass(frozen=True, slots=True)
class CriterionView:
    """A criterion: its points, how often it lost some, and why. `reasons_left_out` counts further explanations."""

    name: str
    scenario: str | None
    dimension: str
    points: str
    judge: str
    often: str | None
    reasons: list[str]
    reasons_left_out: int


@dataclass(frozen=True, slots=True)
class DimensionView:
    """The points of a dimension, with their share of the possible ones."""

    name: str
    points: str
    share: float


@dataclass(frozen=True, slots=True)
class FaultView:
    """A fault of a simulated person. `trial` is None on a page with one trial."""

    trial: str | None
    turn: int
    character: str
    fault: str


@dataclass(frozen=True, slots=True)
class TrialVerdict:
    """A verdict on a trial, or a veto. `trial` is None on a page with one trial."""

    trial: str | None
    name: str
    word: str
    is_good: bool
    evidence: str
    lines: list[str]


@dataclass(frozen=True, slots=True)
class AssistantSection:
    """The sections on an assistant. `*_left_out`: entries that the page does not show."""

    total: str
    verdicts: list[TrialVerdict]
    verdicts_left_out: int
    failed: list[CriterionView]
    failed_left_out: int
    dimensions: list[DimensionView]
    criteria: list[CriterionView]
    criteria_left_out: int
    faults: list[FaultView]
    faults_left_out: int
    endings: list[str]
    trials: int


def assistant_of(results: Sequence[AssessmentResults]) -> AssistantSection | None:
    """The sections on these trials; None without any."""
    if not results:
        return None
    criteria = criteria_of(results)
    failed = [each for each in criteria if each.failed]
    several = len({each.scenario_id for each in results}) > 1
    faults, verdicts = list(_faults(results)), list(_verdicts(results))
    return AssistantSection(
        total=of_points(total_points(results)),
        verdicts=verdicts[:MAX_VERDICTS],
        verdicts_left_out=max(0, len(verdicts) - MAX_VERDICTS),
        failed=[_failed(each, several) for each in failed[:MAX_CARDS]],
        failed_left_out=max(0, len(failed) - MAX_CARDS),
        dimensions=[_dimension(*each) for each in dimension_points(results).items()],
        criteria=[_criterion(each, several, ()) for each in criteria[:MAX_CRITERIA]],
        criteria_left_out=max(0, len(criteria) - MAX_CRITERIA),
        faults=faults[:MAX_FAULTS],
        faults_left_out=max(0, len(faults) - MAX_FAULTS),
        endings=[f"{on_one_line(each.scenario_id)}: {ending_text(each)}" for each in results],
        trials=len(results),
    )


def _criterion(criterion: CriterionPoints, several: bool, reasons: Sequence[str]) -> CriterionView:
    lost_often = criterion.losing and criterion.trials > 1
    return CriterionView(
        name=on_one_line(criterion.name),
        scenario=on_one_line(criterion.scenario) if several else None,
        dimension=named(criterion.dimension).lower(),
        points=of_points(criterion.points) if criterion.checked else "not checked",
        judge="by a model" if criterion.by_model else "by code",
        often=f"lost in {criterion.losing} of {criterion.trials} trials" if lost_often else None,
        reasons=[_reason(each) for each in reasons[:MAX_REASONS]],
        reasons_left_out=max(0, len(reasons) - MAX_REASONS),
    )


def _failed(criterion: CriterionPoints, several: bool) -> CriterionView:
    often = f"failed in {criterion.failed} of {criterion.trials} trials" if criterion.trials > 1 else None
    points = f"{criterion.failed_points:,g} points in no sum"
    return replace(_criterion(criterion, several, criterion.failures), points=points, often=often)


def _reason(text: str) -> str:
    shown = visible(text).strip()
    return shown if len(shown) <= MAX_REASON else f"{shown[:MAX_REASON]}…"


def _dimension(name: str, points: Score) -> DimensionView:
    return DimensionView(named(name), of_points(points), points.share)


def _verdicts(results: Sequence[AssessmentResults]) -> Iterator[TrialVerdict]:
    """Utility and safety of each trial, those that failed first. Vetoes and damage are the lines of safety."""
    order: dict[bool | None, int] = {False: 0, None: 1, True: 2}
    for trial in sorted(results, key=lambda each: order[each.passed]):
        where = on_one_line(trial.assessment_id.rpartition("/")[2]) if len(results) > 1 else None
        safety = trial.safety
        vetoes = [] if safety is None else safety.vetoes
        harm = [f"Veto: {each.item}, by {each.call} in turn {each.turn}. {each.explanation}" for each in vetoes]
        harm += [] if safety is None else [f"Changed: {each}" for each in safety.damage]
        for name, part, lines in (("Utility", trial.utility, []), ("Safety", safety, harm)):
            if part is not None:
                yield TrialVerdict(
                    where,
                    name,
                    _WORDS[part.passed],
                    part.passed is True,
                    _reason(part.evidence),
                    [on_one_line(each) for each in lines],
                )
        if trial.native is not None:
            yield from _native(where, trial.native)


def _native(where: str | None, native: NativeVerdict) -> Iterator[TrialVerdict]:
    """The verdicts of the benchmark that the scenario was imported from."""
    resisted = None if native.attack_succeeded is None else not native.attack_succeeded
    by = f"As {on_one_line(native.benchmark)} computes it."
    yield TrialVerdict(where, "Native utility", _WORDS[native.utility], native.utility is True, by, [])
    if resisted is not None:
        told = f"{by} The attack {'failed' if resisted else 'succeeded'}."
        yield TrialVerdict(where, "Native security", _WORDS[resisted], resisted, told, [])


def _faults(results: Sequence[AssessmentResults]) -> Iterable[FaultView]:
    for trial in results:
        where = on_one_line(trial.assessment_id.rpartition("/")[2]) if len(results) > 1 else None
        for fault in trial.user_faults:
            yield FaultView(where, fault.turn, on_one_line(fault.character), on_one_line(fault.fault))

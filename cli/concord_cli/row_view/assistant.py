"""An assistant in scenarios: where it got and lost points over the trials of a row, and the verdicts on them. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter, ValidationError

from concord.assessment.result_row import Detail
from concord_assistant.results import DIMENSIONS, AssessmentResults, CriterionResult, NativeVerdict, Score, harm_text
from concord_cli.display_text import counted, named, on_one_line, visible
from concord_cli.row_view.table import Cell, Column, Table, not_listed, table_of

MAX_POINTS: Final = 1e9
"""No scenario gives more. A row that claims to is not shown: its figures would not fit."""

MAX_CARDS: Final = 40
"""Criteria whose check failed, with a card; further ones are in the table of all."""

MAX_REASONS: Final = 3
"""Explanations of one criterion, over several trials."""

MAX_REASON: Final = 2000
"""Characters of an explanation."""

MAX_CRITERIA: Final = 300
MAX_FAULTS: Final = 40
MAX_VERDICTS: Final = 80

ENDINGS: Final = {
    "scenario_complete": "scenario over",
    "early_completion": "ended by the assistant",
    "timeout": "out of time",
    "error": "failed",
}

_WORDS: Final[Mapping[bool | None, str]] = {True: "passed", False: "failed", None: "unknown"}
_RESULTS: Final = TypeAdapter(list[AssessmentResults])


def scenario_results(detail: Detail, trial_id: str | None = None) -> list[AssessmentResults]:
    """The results of the row's trials in scenarios, or of one of its trials. Empty if there are none, or unreadable.

    Keys of later versions are ignored.
    """
    try:
        found = _RESULTS.validate_python(detail.assessment_results, extra="ignore")
    except ValidationError:
        return []
    if not all(map(_fits, found)):
        return []
    return [each for each in found if trial_id is None or each.assessment_id.endswith(f"/{trial_id}")]


def _fits(results: AssessmentResults) -> bool:
    scores: list[Score | CriterionResult] = [results.scores.overall, *results.scores.dimensions.values()]
    return all(each.max_score <= MAX_POINTS for each in [*scores, *results.criteria_results])


def is_lone_assistant(detail: Detail) -> bool:
    """Whether the row is of one assistant, in scenarios only: no other agent is declared or was observed."""
    results = scenario_results(detail)
    return bool(results) and len(detail.agents) <= 1 and len(results) >= len(detail.trials)


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A criterion whose check failed, how often, and why. `reasons_left_out` counts further explanations."""

    name: str
    facts: list[str]
    reasons: list[str]
    reasons_left_out: int


@dataclass(frozen=True, slots=True)
class DimensionView:
    """The points of a dimension, with their share of the possible ones."""

    name: str
    points: str
    share: float


@dataclass(frozen=True, slots=True)
class TrialVerdict:
    """A verdict on a trial, or a veto. `name`: with the trial, if there are several."""

    name: str
    word: str
    is_good: bool
    evidence: str
    lines: list[str]


@dataclass(frozen=True, slots=True)
class AssistantSection:
    """The sections on an assistant. `*_left_out`: entries that the page does not show.

    `faults`: of simulated people: trial and turn, person, fault.
    """

    total: str
    verdicts: list[TrialVerdict]
    verdicts_left_out: int
    failed: list[FailedCheck]
    failed_left_out: int
    dimensions: list[DimensionView]
    criteria: Table
    faults: list[tuple[str, str, str]]
    faults_left_out: int
    endings: list[str]
    trials: int


def assistant_of(results: Sequence[AssessmentResults]) -> AssistantSection | None:
    """The sections on these trials; None without any."""
    if not results:
        return None
    grouped: defaultdict[tuple[str, str], list[CriterionResult]] = defaultdict(list)
    for trial in results:
        for criterion in trial.criteria_results:
            grouped[trial.scenario_id, criterion.criterion_id].append(criterion)
    several = len({each.scenario_id for each in results}) > 1
    criteria = [(scenario if several else "", each) for (scenario, _), each in grouped.items()]
    failed = [each for each in criteria if any(one.score is None for one in each[1])]
    faults, verdicts = list(_faults(results)), list(_verdicts(results))
    return AssistantSection(
        total=of_points(_sum(each.scores.overall for each in results)),
        verdicts=verdicts[:MAX_VERDICTS],
        verdicts_left_out=max(0, len(verdicts) - MAX_VERDICTS),
        failed=[_failed(*each) for each in failed[:MAX_CARDS]],
        failed_left_out=max(0, len(failed) - MAX_CARDS),
        dimensions=list(_dimensions(results)),
        criteria=_table(criteria),
        faults=faults[:MAX_FAULTS],
        faults_left_out=max(0, len(faults) - MAX_FAULTS),
        endings=[f"{on_one_line(each.scenario_id)}: {ending_text(each)}" for each in results],
        trials=len(results),
    )


def of_points(points: Score) -> str:
    """`7.5 of 10`."""
    return f"{round(points.score, 2):,g} of {round(points.max_score, 2):,g}"


def ending_text(trial: AssessmentResults) -> str:
    """How a trial's turns ended: `ended by the assistant after 3 turns and 7 actions`."""
    ending = ENDINGS.get(trial.reason, on_one_line(trial.reason))
    return f"{ending} after {counted(trial.turns_taken, 'turn')} and {counted(trial.actions_taken, 'action')}"


def _sum(points: Iterable[Score | CriterionResult]) -> Score:
    """The sum, not validated: results from elsewhere may contradict themselves, and exceed the limit of one number."""
    pairs = [(each.score or 0.0, each.max_score) for each in points]
    return Score.model_construct(score=sum(score for score, _ in pairs), max_score=sum(most for _, most in pairs))


def _dimensions(results: Sequence[AssessmentResults]) -> Iterator[DimensionView]:
    """The points by dimension, as sums over the trials."""
    for name in DIMENSIONS:
        if found := [trial.scores.dimensions[name] for trial in results if name in trial.scores.dimensions]:
            points = _sum(found)
            yield DimensionView(named(name), of_points(points), points.share)


def _table(criteria: Sequence[tuple[str, Sequence[CriterionResult]]]) -> Table:
    """All criteria, with sums over the trials in which they were checked."""
    columns = [
        Column("Criterion", "head"),
        Column("Dimension"),
        Column("Points", "number"),
        Column("Checked"),
        Column("Why"),
    ]
    rows = []
    for scenario, trials in criteria[:MAX_CRITERIA]:
        checked = [each for each in trials if each.score is not None]
        name = Cell(on_one_line(trials[0].name), aside=scenario and on_one_line(scenario))
        points = of_points(_sum(checked)) if checked else "not checked"
        why = next((on_one_line(_reason(each.explanation)) for each in trials if each.lost), "")
        rows.append((name, named(trials[0].dimension).lower(), points, _judge(trials), why))
    left_out = not_listed(len(criteria) - MAX_CRITERIA, "further criterion").replace("criterions", "criteria")
    return table_of("All criteria", columns, rows, left_out=left_out)


def _judge(trials: Sequence[CriterionResult]) -> str:
    return "by a model" if any(each.method == "model" for each in trials) else "by code"


def _failed(scenario: str, trials: Sequence[CriterionResult]) -> FailedCheck:
    failed = [each for each in trials if each.score is None]
    reasons = list(dict.fromkeys(each.error or each.explanation for each in failed))
    points = f"{sum(each.max_score for each in failed):,g} points in no sum"
    often = f"failed in {len(failed)} of {len(trials)} trials" if len(trials) > 1 else ""
    facts = (points, named(trials[0].dimension).lower(), _judge(trials), often, scenario and on_one_line(scenario))
    return FailedCheck(
        name=on_one_line(trials[0].name),
        facts=[each for each in facts if each],
        reasons=[_reason(each) for each in reasons[:MAX_REASONS]],
        reasons_left_out=max(0, len(reasons) - MAX_REASONS),
    )


def _reason(text: str) -> str:
    shown = visible(text).strip()
    return shown if len(shown) <= MAX_REASON else f"{shown[:MAX_REASON]}…"


def _where(trial: AssessmentResults, results: Sequence[AssessmentResults], sign: str) -> str:
    """The trial, where there are several."""
    return f"{on_one_line(trial.assessment_id.rpartition('/')[2])}{sign}" if len(results) > 1 else ""


def _verdicts(results: Sequence[AssessmentResults]) -> Iterator[TrialVerdict]:
    """Utility and safety of each trial, those that failed first. Vetoes are the lines of safety."""
    order: dict[bool | None, int] = {False: 0, None: 1, True: 2}
    for trial in sorted(results, key=lambda each: order[each.passed]):
        where, safety = _where(trial, results, ": "), trial.safety
        harm = list[str]()
        if safety is not None:
            harm = [f"{call}: {harm_text(vetoes)}" for call, vetoes in safety.harmful_calls.items()]
        for name, part, lines in (("Utility", trial.utility, []), ("Safety", safety, harm)):
            if part is not None:
                yield _verdict(where + name, part.passed, _reason(part.evidence), lines)
        if trial.native is not None:
            yield from _native(where, trial.native)


def _native(where: str, native: NativeVerdict) -> Iterator[TrialVerdict]:
    """The verdicts of the benchmark that the scenario was imported from."""
    by = f"As {on_one_line(native.benchmark)} computes it."
    yield _verdict(f"{where}Native utility", native.utility, by)
    if native.attack_succeeded is not None:
        told = f"{by} The attack {'succeeded' if native.attack_succeeded else 'failed'}."
        yield _verdict(f"{where}Native security", not native.attack_succeeded, told)


def _verdict(name: str, passed: bool | None, evidence: str, lines: Sequence[str] = ()) -> TrialVerdict:
    return TrialVerdict(name, _WORDS[passed], passed is True, evidence, list(map(on_one_line, lines)))


def _faults(results: Sequence[AssessmentResults]) -> Iterator[tuple[str, str, str]]:
    for trial in results:
        for fault in trial.user_faults:
            turn = f"{_where(trial, results, ', ')}turn {fault.turn}"
            yield turn, on_one_line(fault.character), on_one_line(fault.fault)

"""Texts on the evidence behind the score of a row or a trial, and on what the team adds to one agent."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from concord.assessment import Mode
from concord.assessment.result_row import AssistantFigures, Basis, ControlRecord, Figure, ResultRow, Scoring
from concord.assessment.results import Grading, MetricStatus, SubScore, TrialRecord
from concord_cli.display_text import counted, printable
from concord_evaluator.statistics import comparison_verdict

CONTROLS: Final[Mapping[str, str]] = {
    "solo": "one agent with all briefs",
    "silent": "a team without a channel",
    "alone": "the starting agent alone",
}

UNWEIGHTED: Final = frozenset({"outcome", "proven", "conduct"})
"""The ids of the parts of a score that rests on an outcome; all others are weighted."""

MAX_REASONS: Final = 3
"""Limit of the reasons listed; most trials share one."""


def part_notes(part: SubScore, trials: Sequence[TrialRecord]) -> list[str]:
    """The reasons that these trials give for a part of the score."""
    parts = [each for trial in trials if trial.usable for each in trial.sub_scores if each.id == part.id] or [part]
    return reasons_with_counts([each.reason for each in parts])


def reasons_with_counts(reasons: Sequence[str | None]) -> list[str]:
    """Each reason once, with its number of trials unless all of `reasons` are the same."""
    counts = Counter(reason for reason in reasons if reason)
    shown = [
        reason if n == len(reasons) else f"{reason} ({n:,} of {len(reasons):,} trials)"
        for reason, n in list(counts.items())[:MAX_REASONS]
    ]
    return shown if len(counts) <= MAX_REASONS else [*shown, f"and {len(counts) - MAX_REASONS} more reasons"]


JUDGED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {"code": "by code", "model": "by the model", "recorded": "by the file", "nobody": "by nobody"}
)


@dataclass(frozen=True, slots=True)
class Rating:
    """A score in words.

    `number`: "69.2", "40.0 to 73.3" if some trials are unjudged, None without a score; `rests_on`: what the score
    measures, or why there is none; `notes`: further notes, in whole sentences.
    """

    number: str | None
    rests_on: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The inputs of a rating: scores up to the row's `max_score`, and how many trials each source judged."""

    basis: Basis
    mode: Mode
    version: str
    score: float | None
    alone: bool
    score_high: float | None
    sub_scores: Sequence[SubScore]
    usable: int
    judged: Mapping[str, int]
    reasons: Sequence[str]
    information: Figure | None = None
    economy: Figure | None = None
    lift: ControlRecord | None = None
    assistant: AssistantFigures | None = None


def rating_of(row: ResultRow) -> Rating:
    """The rating of the whole row."""
    scoring = row.detail.scoring
    usable = [trial for trial in row.detail.trials if trial.usable and not trial.is_control]
    return _rating(
        _Inputs(
            basis=scoring.basis,
            mode=row.detail.mode,
            version=scoring.version,
            score=row.score,
            alone=row.detail.coordination_status is MetricStatus.NOT_APPLICABLE,
            score_high=scoring.score_high,
            sub_scores=scoring.sub_scores,
            usable=scoring.usable_trials,
            judged=_judged(scoring),
            reasons=_reasons(trial.grading for trial in usable),
            information=scoring.information,
            economy=scoring.economy,
            lift=scoring.lift,
            assistant=row.detail.assistant,
        )
    )


def rating_of_trial(row: ResultRow, trial: TrialRecord) -> Rating:
    """The rating of one trial of the row."""
    grading, scoring = trial.grading, row.detail.scoring
    return _rating(
        _Inputs(
            basis=scoring.basis,
            mode=row.detail.mode,
            version=scoring.version,
            score=None if trial.overall_score is None else row.max_score * trial.overall_score,
            alone=trial.coordination_status is MetricStatus.NOT_APPLICABLE,
            score_high=None,
            sub_scores=trial.sub_scores,
            usable=int(trial.usable),
            judged={} if grading is None else {grading.source: 1},
            reasons=_reasons([grading]),
        )
    )


def grading_source_text(grading: Grading) -> str:
    """The source of a grading: `by code (exact)`."""
    return JUDGED_BY[grading.source] + (f" ({grading.scorer})" if grading.scorer else "")


def _judged(scoring: Scoring) -> dict[str, int]:
    counts = {
        "code": scoring.judged_by_code,
        "model": scoring.judged_by_model,
        "recorded": scoring.judged_by_record,
        "nobody": scoring.unjudged,
    }
    return {source: n for source, n in counts.items() if n}


def _reasons(gradings: Iterable[Grading | None]) -> list[str]:
    """The reasons of gradings without a value."""
    return reasons_with_counts([each.reason for each in gradings if each is not None and each.value is None])


def _rating(inputs: _Inputs) -> Rating:
    if inputs.score is None:
        return Rating(None, _why_none(inputs))
    if inputs.basis == "structure":
        return Rating(f"{inputs.score:.1f}", _of_structure(inputs))
    if set(inputs.judged) == {"nobody"}:
        return Rating(None, _why_none(inputs))
    if inputs.basis == "recorded":
        return Rating(f"{inputs.score:.1f}", _of_a_record(inputs))
    return _of_an_outcome(inputs, inputs.score)


def _why_none(inputs: _Inputs) -> str:
    if not inputs.usable and not inputs.judged:
        return "no trial was usable"
    if inputs.basis == "structure":
        return "no structure to rate"
    return "nobody judged the outcome" + (f" ({'; '.join(inputs.reasons)})" if inputs.reasons else "")


def _of_an_outcome(inputs: _Inputs, score: float) -> Rating:
    values = {part.id: part.value for part in inputs.sub_scores}
    outcome, proven, conduct = (values.get(name) for name in ("outcome", "proven", "conduct"))
    by_whom = _by_whom(inputs.judged)
    rests_on = f"outcome{'' if outcome is None else f' {outcome:.2f}'} ({by_whom})"
    if proven is not None and outcome is not None:
        rests_on = f"proven outcome {proven:.2f} of {outcome:.2f} ({by_whom})"
    elif conduct is not None:  # version 2
        rests_on += f" x conduct {conduct:.2f}"
    alone = inputs.lift is not None and inputs.lift.control == "alone"
    if inputs.basis == "outcome_only" and not inputs.alone and not alone:
        rests_on += "; teamwork not measured"
    trials, unjudged = sum(inputs.judged.values()), inputs.judged.get("nobody", 0)
    notes = [lift_text(inputs.lift)] if inputs.lift is not None else []
    notes += [f"Means of {trials:,} trials."] if trials > 1 else []
    notes += _beside(inputs)
    if not unjudged:
        return Rating(f"{score:.1f}", rests_on, tuple(notes))
    high = inputs.score_high
    those = "1 unjudged trial counts" if unjudged == 1 else f"{unjudged:,} unjudged trials count"
    notes.append(f"{those} as failed in the lower figure{'' if high is None else ' and as perfect in the upper one'}.")
    number = f"{score:.1f}" if high is None else f"{score:.1f} to {high:.1f}"
    return Rating(number, rests_on, tuple(notes))


def _beside(inputs: _Inputs) -> Iterator[str]:
    """The figures beside the score, in one sentence."""
    assistant = inputs.assistant
    figures = [("information", inputs.information), ("economy", inputs.economy)]
    if assistant is not None:
        figures += [("utility", assistant.utility), ("safety", assistant.safety)]
        figures += [("utility under attack", assistant.utility_under_attack)]
        figures += [("attacks that succeeded", assistant.attack_success)]
    known = [(name, each) for name, each in figures if each is not None]
    if known:
        text = ", ".join(f"{name} {each.value:.2f}{_interval(each)}" for name, each in known)
        yield f"{text[0].upper()}{text[1:]}."
    for each in () if assistant is None else assistant.native:
        parts = [("utility", each.utility), ("attacks that succeeded", each.attack_success)]
        told = ", ".join(f"{name} {figure.value:.2f}{_interval(figure)}" for name, figure in parts if figure)
        yield f"By {printable(each.benchmark)}'s own verdicts: {told}."


def _interval(figure: Figure) -> str:
    return "" if figure.low is None or figure.high is None else f" ({figure.low:.2f} to {figure.high:.2f})"


def _of_a_record(inputs: _Inputs) -> str:
    if set(inputs.judged) <= {"recorded"}:
        return "the outcome in the file; the team's work was not observed"
    judges = _by_whom(inputs.judged)
    return f"the outcome of the recorded answers, judged {judges}; the team's work was not observed"


def _of_structure(inputs: _Inputs) -> str:
    """What a structural score rests on. Version 1 scored live teams so too, with a model's grade of the outcome."""
    if inputs.mode is Mode.GROUND_TRUTH:
        return "rates the structure of a given pattern, without a live team"
    text = f"rates structure, by version {inputs.version} of the rules"
    task = next((part for part in inputs.sub_scores if part.id == "task"), None)
    if task is None or task.value is None:
        return f"{text}; nobody judged the outcome"
    return f"{text}, and with weight {task.weight:.2f} the outcome"


def _by_whom(judged: Mapping[str, int]) -> str:
    """`by code`; of several trials `2 trials by code, 1 by nobody`."""
    if sum(judged.values()) <= 1:
        return ", ".join(JUDGED_BY[source] for source in judged) or "by nobody"
    (first, n), *others = judged.items()
    parts = [f"{counted(n, 'trial')} {JUDGED_BY[first]}", *(f"{n:,} {JUDGED_BY[source]}" for source, n in others)]
    return ", ".join(parts)


def lift_text(lift: ControlRecord) -> str:
    """What the team adds to the control, with its interval, and whether the starting agent was without its peers.

    A gap is shown as `concord compare` shows a difference: its interval excludes 0, and there are tasks enough.
    """
    against = CONTROLS[lift.control]
    points, interval = round(abs(100 * lift.gap)), _ends(lift)
    ends = None if lift.gap_low is None or lift.gap_high is None else (lift.gap_low, lift.gap_high)
    match comparison_verdict(ends, lift.tasks or 0):
        case "better":
            text = f"The team adds {counted(points, 'point')} {interval} to {against}."
        case "worse":
            text = f"The team is {counted(points, 'point')} worse than {against}: {100 * lift.gap:+.0f} {interval}."
        case _:
            number = "1 pair of trials" if lift.trials == 1 else f"{lift.trials:,} pairs of trials"
            known = f"{100 * lift.gap:+.0f} {interval or 'without an interval: too few tasks'}"
            text = f"Over {against}, the team adds nothing that {number} can show ({known})."
    return f"{text}{_doubt(lift)}"


def _ends(lift: ControlRecord) -> str:
    if lift.gap_low is None or lift.gap_high is None:
        return ""
    return f"[{100 * lift.gap_low:.0f}, {100 * lift.gap_high:.0f}]"


def _doubt(lift: ControlRecord) -> str:
    if lift.control != "alone" or lift.cut_off:
        return ""
    if lift.cut_off is None:
        return " The agent's calls were not observed, so it may have reached its peers when alone."
    return " But a peer answered a call when it was alone, so this says little."

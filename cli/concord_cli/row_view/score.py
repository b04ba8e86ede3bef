"""Texts on the evidence behind the score of a row or a trial, and on what the team adds to one agent."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from concord.assessment import Mode
from concord.assessment.result_row import AssistantFigures, ControlRecord, Figure, ResultRow, Scoring
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


_COUNTS: Final[Mapping[str, str]] = {
    "code": "judged_by_code",
    "model": "judged_by_model",
    "recorded": "judged_by_record",
    "nobody": "unjudged",
}
"""By source, where a row counts the trials that it judged."""


def rating_of(row: ResultRow) -> Rating:
    """The rating of the whole row."""
    return _rating(row, [trial.grading for trial in row.detail.trials if trial.usable and not trial.is_control])


def rating_of_trial(row: ResultRow, trial: TrialRecord) -> Rating:
    """The rating of one trial, as of a row that has no other."""
    source = None if trial.grading is None else trial.grading.source
    scoring = row.detail.scoring.model_copy(
        update={
            **{count: int(source == each) for each, count in _COUNTS.items()},
            **dict.fromkeys(("score_high", "information", "economy", "lift")),
            "sub_scores": trial.sub_scores,
            "usable_trials": int(trial.usable),
        }
    )
    of_trial = {"scoring": scoring, "coordination_status": trial.coordination_status, "assistant": None}
    score = None if trial.overall_score is None else row.max_score * trial.overall_score
    alone = row.model_copy(update={"score": score, "detail": row.detail.model_copy(update=of_trial)})
    return _rating(alone, [trial.grading])


def grading_source_text(grading: Grading) -> str:
    """The source of a grading: `by code (exact)`."""
    return JUDGED_BY[grading.source] + (f" ({grading.scorer})" if grading.scorer else "")


def _judged(scoring: Scoring) -> dict[str, int]:
    """The numbers of trials by the source that judged them."""
    counts = {source: int(getattr(scoring, count)) for source, count in _COUNTS.items()}
    return {source: n for source, n in counts.items() if n}


def _rating(row: ResultRow, gradings: Iterable[Grading | None]) -> Rating:
    """The rating; `gradings`: of the trials that count, which say why there is no value."""
    scoring, judged = row.detail.scoring, _judged(row.detail.scoring)
    if row.score is None or (scoring.basis != "structure" and set(judged) == {"nobody"}):
        return Rating(None, _why_none(scoring, judged, gradings))
    if scoring.basis == "structure":
        return Rating(f"{row.score:.1f}", _of_structure(row))
    if scoring.basis == "recorded":
        return Rating(f"{row.score:.1f}", _of_a_record(judged))
    return _of_an_outcome(row, row.score, judged)


def _why_none(scoring: Scoring, judged: Mapping[str, int], gradings: Iterable[Grading | None]) -> str:
    if not scoring.usable_trials and not judged:
        return "no trial was usable"
    if scoring.basis == "structure":
        return "no structure to rate"
    reasons = reasons_with_counts([each.reason for each in gradings if each is not None and each.value is None])
    return "nobody judged the outcome" + (f" ({'; '.join(reasons)})" if reasons else "")


def _of_an_outcome(row: ResultRow, score: float, judged: Mapping[str, int]) -> Rating:
    scoring, lift, high = row.detail.scoring, row.detail.scoring.lift, row.detail.scoring.score_high
    values = {part.id: part.value for part in scoring.sub_scores}
    outcome, proven, conduct = values.get("outcome"), values.get("proven"), values.get("conduct")
    by_whom = _by_whom(judged)
    rests_on = f"outcome{'' if outcome is None else f' {outcome:.2f}'} ({by_whom})"
    if proven is not None and outcome is not None:
        rests_on = f"proven outcome {proven:.2f} of {outcome:.2f} ({by_whom})"
    elif conduct is not None:  # version 2
        rests_on += f" x conduct {conduct:.2f}"
    alone = row.detail.coordination_status is MetricStatus.NOT_APPLICABLE
    if scoring.basis == "outcome_only" and not alone and not (lift is not None and lift.control == "alone"):
        rests_on += "; teamwork not measured"
    trials, unjudged = sum(judged.values()), judged.get("nobody", 0)
    notes = [lift_text(lift)] if lift is not None else []
    notes += [f"Means of {trials:,} trials."] if trials > 1 else []
    notes += _beside(scoring, row.detail.assistant)
    if not unjudged:
        return Rating(f"{score:.1f}", rests_on, tuple(notes))
    those = "1 unjudged trial counts" if unjudged == 1 else f"{unjudged:,} unjudged trials count"
    notes.append(f"{those} as failed in the lower figure{'' if high is None else ' and as perfect in the upper one'}.")
    number = f"{score:.1f}" if high is None else f"{score:.1f} to {high:.1f}"
    return Rating(number, rests_on, tuple(notes))


_MEANING: Final = {
    "information": "the share of needed facts that reached who needed them",
    "economy": "a simple team's messages per message sent",
    "utility": "the share of errands done",
    "safety": "the share of days without harm",
    "utility under attack": "the same where somebody attacked",
    "attacks that succeeded": "a share of all attacks",
}


def _beside(scoring: Scoring, assistant: AssistantFigures | None) -> Iterator[str]:
    """The figures beside the score, in one sentence."""
    figures = [("information", scoring.information), ("economy", scoring.economy)]
    if assistant is not None:
        figures += [("utility", assistant.utility), ("safety", assistant.safety)]
        figures += [("utility under attack", assistant.utility_under_attack)]
        figures += [("attacks that succeeded", assistant.attack_success)]
    known = [(name, each) for name, each in figures if each is not None]
    if known:
        text = ", ".join(f"{name} {each.value:.2f}{_interval(each)}" for name, each in known)
        yield f"{text[0].upper()}{text[1:]}."
        meant = [f"{name}: {_MEANING[name]}" for name, _ in known]
        yield f"{'; '.join(meant).capitalize()}. In brackets: 95 % intervals."
    for each in () if assistant is None else assistant.native:
        parts = [("utility", each.utility), ("attacks that succeeded", each.attack_success)]
        told = ", ".join(f"{name} {figure.value:.2f}{_interval(figure)}" for name, figure in parts if figure)
        yield f"By {printable(each.benchmark)}'s own verdicts: {told}."


def _interval(figure: Figure) -> str:
    return "" if figure.low is None or figure.high is None else f" ({figure.low:.2f} to {figure.high:.2f})"


def _of_a_record(judged: Mapping[str, int]) -> str:
    if set(judged) <= {"recorded"}:
        return "the outcome in the file; the team's work was not observed"
    return f"the outcome of the recorded answers, judged {_by_whom(judged)}; the team's work was not observed"


def _of_structure(row: ResultRow) -> str:
    """What a structural score rests on. Version 1 scored live teams so too, with a model's grade of the outcome."""
    if row.detail.mode is Mode.GROUND_TRUTH:
        return "rates the structure of a given pattern, without a live team"
    text = f"rates structure, by version {row.detail.scoring.version} of the rules"
    task = next((part for part in row.detail.scoring.sub_scores if part.id == "task"), None)
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

"""What was observed in a trial that lost something, and the steps to read first, safe to display."""

from collections.abc import Sequence
from dataclasses import dataclass

from concord.assessment.observations import Observation, observation_text
from concord.assessment.results import TrialRecord
from concord.assessment.verdict import Evidence
from concord.assessment.verdict_text import CAUSE_WORDS
from concord_cli.display_text import on_one_line, visible
from concord_cli.report.calls import CallName


@dataclass(frozen=True, slots=True)
class Quote:
    """What an agent said or did in a step. `call`: the row of the step, if it is a listed call."""

    agent: str
    step: str
    call: CallName | None
    text: str


@dataclass(frozen=True, slots=True)
class ObservationView:
    """An observation in words. `cause`: the cause that the graders tie it to, in words; None for a mere observation."""

    text: str
    cause: str | None
    quotes: list[Quote]


@dataclass(frozen=True, slots=True)
class ReadingView:
    """A step to read, and why."""

    agent: str
    step: str
    call: CallName | None
    reason: str


@dataclass(frozen=True, slots=True)
class ObservedView:
    """The first block of a failed trial: causes before mere observations, and the reading order where no cause is
    shown."""

    observations: list[ObservationView]
    omitted: int
    reading: list[ReadingView]


def observed_in(trial: TrialRecord, names: Sequence[CallName]) -> ObservedView | None:
    """The block of a trial, whose calls have these names; None if there is nothing to show."""
    if not trial.observations and not trial.reading:
        return None
    calls = {call.step_id: name for call, name in zip(trial.calls, names, strict=False)}
    ordered = sorted(trial.observations, key=lambda each: each.cause is None)
    return ObservedView(
        observations=[_observation(each, calls) for each in ordered],
        omitted=trial.observations_omitted,
        reading=[
            ReadingView(on_one_line(each.agent), on_one_line(each.step_id), calls.get(each.step_id), each.reason)
            for each in trial.reading
        ],
    )


def _observation(found: Observation, calls: dict[str, CallName]) -> ObservationView:
    return ObservationView(
        text=on_one_line(observation_text(found)),
        cause=None if found.cause is None else CAUSE_WORDS[found.cause].deed,
        quotes=[_quote(each, calls) for each in found.evidence],
    )


def _quote(evidence: Evidence, calls: dict[str, CallName]) -> Quote:
    step = evidence.step_id or ""
    return Quote(on_one_line(evidence.agent or ""), on_one_line(step), calls.get(step), visible(evidence.text).strip())

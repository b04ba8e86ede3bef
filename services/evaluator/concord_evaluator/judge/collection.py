"""The evidence on a trial, collected from its trace and screened once, before any judge reads it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.results import MAX_STEP_IDS, CallRecord, Finding
from concord.assessment.task_spec import ModelScorer
from concord.trace.decoding import reports_of
from concord.trace.report import ReportBatch
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge.aliases import Aliases
from concord_evaluator.judge.evidence import Evidence, call_texts, choose_calls, make_evidence
from concord_evaluator.judge.final_answers import answers_of
from concord_evaluator.judge.model import MAX_QUOTE
from concord_evaluator.judge.screening import Suspect, screen
from concord_evaluator.pipeline import task_text


@dataclass(frozen=True, slots=True)
class ScreenedEvidence:
    """The evidence without passages that address the judge, and the finding about these passages, if any."""

    evidence: Evidence
    findings: tuple[Finding, ...]


SCREENED: Final = TypeAdapter(ScreenedEvidence)
"""Reads and writes screened evidence as JSON."""


def screened_evidence(
    plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch]
) -> ScreenedEvidence:
    """The screened evidence on a trial. `batches`: those that arrived before the trial closed, since reporters of later
    ones may have known the outcome."""
    evidence, suspects = screen(evidence_of(plan, evaluation, batches))
    return ScreenedEvidence(evidence, tuple(_findings(suspects, evidence.aliases)))


def evidence_of(plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch]) -> Evidence:
    """The evidence on a trial before screening. Of a live trial, reads only the batches that the gateway wrote."""
    trial = plan.trial(evaluation.outcome.trial_id)
    task = plan.task(trial.task_id)
    calls = _admissible_calls(plan, evaluation)
    chosen = choose_calls(calls)
    if plan.mode is Mode.LIVE:
        batches = [batch for batch in batches if batch.is_observed]
    return make_evidence(
        chosen,
        evaluation.calls_omitted + len(calls) - len(chosen),
        call_texts((report for batch in batches for report in reports_of(batch)), chosen),
        Aliases((agent.id for agent in evaluation.agents), plan.agents(trial.task_id)),
        task_text(plan, trial.trial_id),
        answers_of(plan, evaluation.outcome),
        target=(task.target or []) if task.scorer is None or isinstance(task.scorer, ModelScorer) else [],
    )


def _admissible_calls(plan: AssessmentPlan, evaluation: TrialEvaluation) -> list[CallRecord]:
    """Of a live trial, the calls that the gateway observed: claims of participants must not reach their score."""
    return [call for call in evaluation.calls if plan.mode is not Mode.LIVE or call.provenance == "observed"]


def _findings(suspects: Sequence[Suspect], aliases: Aliases) -> Iterator[Finding]:
    """One finding for all passages that address the judge."""
    if not suspects:
        return
    step_ids = dict.fromkeys(suspect.step_id for suspect in suspects if suspect.step_id is not None)
    yield Finding(
        id="judge_addressed",
        agents=sorted({suspect.agent for suspect in suspects if suspect.agent is not None}),
        metric_id=None,
        measured=f"passages that speak to the judge, the first: \u201c{_quoted(suspects[0].quote, aliases)}\u201d",
        value=float(len(suspects)),
        threshold=0.0,
        step_ids=list(step_ids)[:MAX_STEP_IDS],
        advice="Some names, messages or answers address the judge instead of a colleague. The score does not change; a "
        "language model judges the remaining text.",
    )


def _quoted(passage: str, aliases: Aliases) -> str:
    """A passage on one line, with names, without invisible characters, and shortened."""
    shown = " ".join(aliases.show(passage).split())
    shown = "".join(filter(str.isprintable, shown))
    return shown if len(shown) <= MAX_QUOTE else f"{shown[: MAX_QUOTE - 1]}…"

"""The contents of a bundle: its members, parsed and checked against each other."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from concord.assessment import AssessmentPlan, AssessmentRequest, TrialSpec
from concord.assessment.jobs import RowInputs, TrialInputs
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import TrialOutcome
from concord.bundle.manifest import PLAN, REQUEST, ROW_INPUTS, Manifest, TrialMember, trial_member
from concord.trace.report import ReportBatch, pack

_BATCH: Final = TypeAdapter(ReportBatch)

_ModelT = TypeVar("_ModelT", bound=BaseModel)


class BundleError(Exception):
    """A bundle that is damaged or contradicts itself. `faults`: one line for each fault."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True, slots=True)
class TrialContents:
    """The inputs of one trial. None: the trial did not reach this stage.

    `failure`: the reason why the trial could not be evaluated. `conducted`: the record of an assistant's turns, as
    JSON.
    """

    outcome: TrialOutcome | None
    inputs: TrialInputs | None
    failure: InfrastructureFailure | None
    batches: tuple[ReportBatch, ...]
    conducted: bytes | None


@dataclass(frozen=True, slots=True)
class Contents:
    """The inputs of a row. `trials`: by trial id."""

    plan: AssessmentPlan
    request: AssessmentRequest
    row_inputs: RowInputs
    trials: Mapping[str, TrialContents]


def contents_of(manifest: Manifest, members: Mapping[str, bytes]) -> Contents:
    """Parses the members. Raises BundleError for an invalid member, or members that contradict each other."""
    plan = _parsed(AssessmentPlan, PLAN, members)
    contents = Contents(
        plan=plan,
        request=_request(members),
        row_inputs=_parsed(RowInputs, ROW_INPUTS, members),
        trials={trial.trial_id: _trial(trial, members) for trial in plan.trials},
    )
    if faults := [*_contradictions(manifest, members, contents)]:
        raise BundleError(faults)
    return contents


def _trial(trial: TrialSpec, members: Mapping[str, bytes]) -> TrialContents:
    def optional(model: type[_ModelT], name: TrialMember) -> _ModelT | None:
        member = trial_member(trial.trial_id, name)
        return _parsed(model, member, members) if member in members else None

    return TrialContents(
        outcome=optional(TrialOutcome, "outcome.json"),
        inputs=optional(TrialInputs, "inputs.json"),
        failure=optional(InfrastructureFailure, "failure.json"),
        batches=_batches(trial_member(trial.trial_id, "reports.jsonl"), members),
        conducted=members.get(trial_member(trial.trial_id, "conducted.json")),
    )


def _parsed(model: type[_ModelT], name: str, members: Mapping[str, bytes]) -> _ModelT:
    if name not in members:
        raise BundleError([f"{name}: is missing"])
    try:
        return model.model_validate_json(members[name])
    except ValidationError as error:
        raise BundleError([f"{name}: {_first_reason(error)}"]) from error


def _request(members: Mapping[str, bytes]) -> AssessmentRequest:
    """The request, validated as a gateway does it: from Python objects instead of JSON."""
    try:
        return AssessmentRequest.model_validate(json.loads(members[REQUEST]))
    except KeyError as error:
        raise BundleError([f"{REQUEST}: is missing"]) from error
    except ValidationError as error:
        raise BundleError([f"{REQUEST}: {_first_reason(error)}"]) from error
    except (ValueError, RecursionError) as error:
        raise BundleError([f"{REQUEST}: is not JSON: {error}"]) from error


def _first_reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _batches(name: str, members: Mapping[str, bytes]) -> tuple[ReportBatch, ...]:
    try:
        return tuple(map(batch_of_line, members.get(name, b"").splitlines()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BundleError([f"{name}: has a line that is not a batch of reports: {error}"]) from error


def batch_of_line(line: bytes) -> ReportBatch:
    """The batch in a line of `reports.jsonl`.

    Raises ValueError, TypeError, KeyError, AttributeError or RecursionError for another line.
    """
    document = json.loads(line)
    body = document["body"].encode("utf-8", "surrogateescape")
    return _BATCH.validate_python({**document, "body": pack(body)})


def _contradictions(manifest: Manifest, members: Mapping[str, bytes], contents: Contents) -> Iterable[str]:
    plan = contents.plan
    if plan.assessment_id != manifest.assessment_id:
        yield f"{PLAN}: is of the assessment {plan.assessment_id}, not {manifest.assessment_id}"
    if plan.task_commitment != manifest.task_secret_sha256:
        yield f"{PLAN}: the task secret has the SHA-256 {plan.task_commitment}, not {manifest.task_secret_sha256}"
    known = {PLAN, REQUEST, ROW_INPUTS}
    for trial in plan.trials:
        of_trial = contents.trials[trial.trial_id]
        known |= {name for name in members if name.startswith(f"trials/{trial.trial_id}/")}
        outcome = of_trial.outcome
        if outcome is not None and outcome.trial_id != trial.trial_id:
            yield f"{trial_member(trial.trial_id, 'outcome.json')}: is of {outcome.trial_id}"
        strangers = sorted({batch.trace_id for batch in of_trial.batches} - {trial.trace_id})
        if strangers:
            yield f"{trial_member(trial.trial_id, 'reports.jsonl')}: has reports of the trace {strangers[0]}"
    yield from (f"{name}: belongs to no trial of the plan" for name in members if name not in known)

"""The plan of an assessment: who takes part, after everybody was contacted, and which trials there are."""

from collections.abc import Mapping

from concord.assessment import AssessmentPlan, AssessmentRequest, Mode
from concord.assessment.results import InfrastructureFailure
from concord.trace.ids import new_trace_id
from concord_gateway.contact import Contacts, contact
from concord_gateway.intake import Work
from concord_gateway.observer import Observer
from concord_gateway.progress import Progress
from concord_gateway.roster import make_roster


class NobodyThereError(Exception):
    """Participants that are needed cannot be reached; the text names each with its address and the reason."""


async def make_plan(
    request: AssessmentRequest, work: Work, observer: Observer, progress: Progress
) -> tuple[AssessmentPlan, list[InfrastructureFailure]]:
    """Fixes what an assessment consists of, and names the participants without which it goes on.

    Raises NobodyThereError where participants cannot be reached, unless `allow_missing` is set and others are left who
    get the tasks and give the answers.
    """
    contacts = Contacts()
    if work.trials and request.mode is Mode.LIVE:
        urls = {name: str(url) for name, url in request.participants.items()}
        contacts = await contact(urls, progress, observer.peer_urls)
    missing = {name: f"{name} ({request.participants[name]}): {why}" for name, why in contacts.missing.items()}
    plan = AssessmentPlan(
        assessment_id=new_trace_id(),
        mode=request.mode,
        # What the tasks are stands in the plan once: every evaluation reads it.
        config=request.config.model_copy(update={"tasks": None, "task": None, "interaction_pattern": None}),
        tasks=work.tasks,
        roster=await make_roster(request, contacts.cards, observer.peer_urls, observer.proxy_base),
        trials=work.trials,
        missing=sorted(missing),
        observed=observer.proxy_base is not None and request.mode is Mode.LIVE,
    )
    _check(plan, missing)
    return plan, [
        InfrastructureFailure(trial_id=None, stage="contact", message=f"could not be reached: {missing[name]}")
        for name in sorted(missing)
    ]


def _check(plan: AssessmentPlan, missing: Mapping[str, str]) -> None:
    asked = [entry.id for entry in plan.recipients]
    needed = {name for task in plan.tasks for name in task.answer_from or plan.config.answer_from or asked}
    if missing and (not plan.config.allow_missing or not asked or needed & missing.keys()):
        raise NobodyThereError("; ".join(missing[name] for name in sorted(missing)))

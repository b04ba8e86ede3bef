"""What each function does when it is asked for something."""

from collections.abc import Awaitable, Callable
from typing import Final

from concord_purple.job import Job
from concord_purple.parts import contribute
from concord_purple.requests import BadRequestError, Kind
from concord_purple.teams import Function
from concord_purple.work import (
    Findings,
    advise,
    cross_check,
    evidence_from_draft,
    evidence_from_text,
)

Duty = Callable[[Job], Awaitable[Findings]]


def duty_of(function: Function, kind: Kind) -> Duty:
    """What an agent of this function does with a request of this kind. Raises BadRequestError: it is not its work."""
    duty = _DUTIES[function].get(kind)
    if duty is None:
        raise BadRequestError(f"a {function} does not {kind.verb}")
    return duty


async def _coordinate(job: Job) -> Findings:
    """Has the team do the work, stage by stage, and puts it together."""
    findings = job.request.findings
    for kind in job.asks_for:
        findings |= await job.ask(kind, findings)
    return job.work("compose", lambda: contribute(job, findings))


async def _research(job: Job) -> Findings:
    findings = job.work("measure", lambda: contribute(job, job.request.findings))
    return findings | await job.ask(Kind.CROSS_CHECK, findings)


async def _synthesize(job: Job) -> Findings:
    findings = job.request.findings
    findings |= await job.ask(Kind.CLARIFY, findings)
    return job.work("draft", lambda: contribute(job, findings))


async def _review(job: Job) -> Findings:
    findings = job.request.findings
    findings |= await job.ask(Kind.EVIDENCE, findings)
    return job.work("verify", lambda: contribute(job, findings))


async def _relay(job: Job) -> Findings:
    """Adds one's own part and passes everything on."""
    findings = job.work("contribute", lambda: contribute(job, job.request.findings))
    return findings | await job.ask(Kind.RELAY, findings)


async def _alone(job: Job) -> Findings:
    """A task of plain text, for a function that does not coordinate: its own part, and asks nobody."""
    return job.work("contribute", lambda: contribute(job, job.request.findings))


async def _cross_check(job: Job) -> Findings:
    request, own_id = job.request, job.seat.agent_id
    return job.work("cross_check", lambda: Findings(checks=cross_check(request.text, request.findings.facts, own_id)))


async def _clarify(job: Job) -> Findings:
    request = job.request
    own = [fact for fact in request.findings.standing_facts if fact.found_by == job.seat.agent_id]
    return job.work("advise", lambda: Findings(advice=advise(request.text, own)))


async def _vouch_for_facts(job: Job) -> Findings:
    request, own_id = job.request, job.seat.agent_id
    return job.work("evidence", lambda: Findings(checks=evidence_from_text(request.text, request.findings, own_id)))


async def _vouch_for_draft(job: Job) -> Findings:
    request, own_id = job.request, job.seat.agent_id
    return job.work("evidence", lambda: Findings(checks=evidence_from_draft(request.findings, own_id)))


async def _be_there(job: Job) -> Findings:
    return job.work("ping", Findings)


_DUTIES: Final[dict[Function, dict[Kind, Duty]]] = {
    Function.COORDINATOR: {Kind.TASK: _coordinate, Kind.PING: _be_there},
    Function.RESEARCHER: {
        Kind.TASK: _alone,
        Kind.RESEARCH: _research,
        Kind.RELAY: _relay,
        Kind.CROSS_CHECK: _cross_check,
        Kind.CLARIFY: _clarify,
        Kind.EVIDENCE: _vouch_for_facts,
        Kind.PING: _be_there,
    },
    Function.SYNTHESIZER: {
        Kind.TASK: _alone,
        Kind.SYNTHESIZE: _synthesize,
        Kind.RELAY: _relay,
        Kind.EVIDENCE: _vouch_for_draft,
        Kind.PING: _be_there,
    },
    Function.REVIEWER: {Kind.TASK: _alone, Kind.REVIEW: _review, Kind.RELAY: _relay, Kind.PING: _be_there},
}

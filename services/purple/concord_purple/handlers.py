"""The answers of each function to each kind of request."""

from collections.abc import Awaitable, Callable
from typing import Final

from concord_purple.request_context import RequestContext
from concord_purple.requests import BadRequestError, Kind
from concord_purple.teams import Function
from concord_purple.text_review.checks import cross_check, evidence_from_draft, evidence_from_text
from concord_purple.text_review.draft import advise
from concord_purple.text_review.findings import Findings
from concord_purple.text_review.stages import add_draft, add_fact_checks, add_facts, add_missing_verdict, add_verdict

Handler = Callable[[RequestContext], Awaitable[Findings]]


def handler_for(function: Function, kind: Kind) -> Handler:
    """The handler for a request of this kind. Raises BadRequestError if this function does not serve the kind."""
    handler = _HANDLERS[function].get(kind)
    if handler is None:
        raise BadRequestError(f"a {function} does not {kind.verb}")
    return handler


async def _coordinate(context: RequestContext) -> Findings:
    """Has the team do the work, stage by stage, and composes the review."""
    findings = context.request.findings
    for kind in context.kinds_to_ask:
        findings |= await context.ask(kind, findings)
    return context.work("compose", lambda: contribute(context, findings))


async def _research(context: RequestContext) -> Findings:
    findings = context.work("measure", lambda: contribute(context, context.request.findings))
    return findings | await context.ask(Kind.CROSS_CHECK, findings)


async def _synthesize(context: RequestContext) -> Findings:
    findings = context.request.findings
    findings |= await context.ask(Kind.CLARIFY, findings)
    return context.work("draft", lambda: contribute(context, findings))


async def _review(context: RequestContext) -> Findings:
    findings = context.request.findings
    findings |= await context.ask(Kind.EVIDENCE, findings)
    return context.work("verify", lambda: contribute(context, findings))


async def _relay(context: RequestContext) -> Findings:
    """Adds the agent's own part and relays everything to the next member."""
    findings = context.work("contribute", lambda: contribute(context, context.request.findings))
    return findings | await context.ask(Kind.RELAY, findings)


async def _contribute_alone(context: RequestContext) -> Findings:
    """A task for a function that does not coordinate: the agent contributes its own part and asks nobody."""
    return context.work("contribute", lambda: contribute(context, context.request.findings))


async def _cross_check(context: RequestContext) -> Findings:
    request, own_id = context.request, context.member.agent_id
    return context.work(
        "cross_check", lambda: Findings(checks=cross_check(request.text, request.findings.facts, own_id))
    )


async def _clarify(context: RequestContext) -> Findings:
    request = context.request
    own = [fact for fact in request.findings.unrefuted_facts if fact.found_by == context.member.agent_id]
    return context.work("advise", lambda: Findings(advice=advise(request.text, own)))


async def _give_evidence_on_facts(context: RequestContext) -> Findings:
    request, own_id = context.request, context.member.agent_id
    return context.work("evidence", lambda: Findings(checks=evidence_from_text(request.text, request.findings, own_id)))


async def _give_evidence_on_draft(context: RequestContext) -> Findings:
    request, own_id = context.request, context.member.agent_id
    return context.work("evidence", lambda: Findings(checks=evidence_from_draft(request.findings, own_id)))


async def _answer_ping(context: RequestContext) -> Findings:
    return context.work("ping", Findings)


_HANDLERS: Final[dict[Function, dict[Kind, Handler]]] = {
    Function.COORDINATOR: {Kind.TASK: _coordinate, Kind.PING: _answer_ping},
    Function.RESEARCHER: {
        Kind.TASK: _contribute_alone,
        Kind.RESEARCH: _research,
        Kind.RELAY: _relay,
        Kind.CROSS_CHECK: _cross_check,
        Kind.CLARIFY: _clarify,
        Kind.EVIDENCE: _give_evidence_on_facts,
        Kind.PING: _answer_ping,
    },
    Function.SYNTHESIZER: {
        Kind.TASK: _contribute_alone,
        Kind.SYNTHESIZE: _synthesize,
        Kind.RELAY: _relay,
        Kind.EVIDENCE: _give_evidence_on_draft,
        Kind.PING: _answer_ping,
    },
    Function.REVIEWER: {
        Kind.TASK: _contribute_alone,
        Kind.REVIEW: _review,
        Kind.RELAY: _relay,
        Kind.PING: _answer_ping,
    },
}


Stage = Callable[[RequestContext, Findings], Findings]


def contribute(context: RequestContext, findings: Findings) -> Findings:
    """The findings with the part of the agent's function added.

    In a team that fills gaps, the agent first does what should have been done before its part.
    """
    gap_stages, own = _PARTS[context.member.function]
    for stage in (*(gap_stages if context.team.fills_gaps else ()), *own):
        findings = stage(context, findings)
    return findings


def _facts(context: RequestContext, findings: Findings) -> Findings:
    return add_facts(context.request.text, context.request.aspects, findings, context.member.agent_id)


def _fact_checks(context: RequestContext, findings: Findings) -> Findings:
    return add_fact_checks(context.request.text, findings, context.member.agent_id)


def _draft(context: RequestContext, findings: Findings) -> Findings:
    return add_draft(context.request.text, findings, context.member.agent_id)


def _verdict(context: RequestContext, findings: Findings) -> Findings:
    return add_verdict(context.request.text, findings, context.member.agent_id)


def _missing_verdict(context: RequestContext, findings: Findings) -> Findings:
    return add_missing_verdict(context.request.text, findings, context.member.agent_id)


_PARTS: Final[dict[Function, tuple[tuple[Stage, ...], tuple[Stage, ...]]]] = {
    Function.COORDINATOR: ((_facts, _draft, _missing_verdict), ()),
    Function.RESEARCHER: ((), (_facts, _fact_checks)),
    Function.SYNTHESIZER: ((_facts,), (_draft,)),
    Function.REVIEWER: ((_facts, _draft), (_verdict,)),
}
"""By function: the stages with which it fills gaps, then those of its own part."""

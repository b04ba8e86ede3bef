"""Each function's own part of a review, and what it makes up for where nobody has done it."""

from collections.abc import Callable
from typing import Final

from concord_purple.job import Job
from concord_purple.teams import Function
from concord_purple.work import Findings, add_draft, add_fact_checks, add_facts, add_missing_verdict, add_verdict

Stage = Callable[[Job, Findings], Findings]


def contribute(job: Job, findings: Findings) -> Findings:
    """The findings with the part of the agent's function.

    In a team that makes up for what is missing, whatever should have been done before that part is done first.
    """
    made_up, own = _PARTS[job.seat.function]
    for stage in (*(made_up if job.team.makes_up else ()), *own):
        findings = stage(job, findings)
    return findings


def _facts(job: Job, findings: Findings) -> Findings:
    return add_facts(job.request.text, job.request.aspects, findings, job.seat.agent_id)


def _fact_checks(job: Job, findings: Findings) -> Findings:
    return add_fact_checks(job.request.text, findings, job.seat.agent_id)


def _draft(job: Job, findings: Findings) -> Findings:
    return add_draft(job.request.text, findings, job.seat.agent_id)


def _verdict(job: Job, findings: Findings) -> Findings:
    return add_verdict(job.request.text, findings, job.seat.agent_id)


def _missing_verdict(job: Job, findings: Findings) -> Findings:
    return add_missing_verdict(job.request.text, findings, job.seat.agent_id)


_PARTS: Final[dict[Function, tuple[tuple[Stage, ...], tuple[Stage, ...]]]] = {
    Function.COORDINATOR: ((_facts, _draft, _missing_verdict), ()),
    Function.RESEARCHER: ((), (_facts, _fact_checks)),
    Function.SYNTHESIZER: ((_facts,), (_draft,)),
    Function.REVIEWER: ((_facts, _draft), (_verdict,)),
}
"""What each function makes up for, then its own part."""

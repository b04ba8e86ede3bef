"""The calls that the gateway carried between participants, as its own records tell of them: no report is read."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from concord.identity import GREEN_AGENT, Roster
from concord.observation import REFUSED_BY, RESPONSE_WORDS, WORDS_FIELD
from concord.reports import Channel, Report, ReportBatch
from concord.steps import as_utc
from concord.wire import reports_of
from concord_evaluator.trace.names import participant_of

_UNKNOWN: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CarriedCall:
    """One attempt of a participant to call another. `request`, `answer`: what was said, in as many texts as it took.

    `began`, `ended`: by the gateway's clock; the end of time where it does not say.
    """

    step_id: str
    caller: str
    callee: str
    request: tuple[str, ...]
    answer: tuple[str, ...]
    failed: bool
    began: datetime
    ended: datetime


def is_observed(batch: ReportBatch) -> bool:
    """Whether the gateway wrote the batch itself. Batches of others are not even unpacked."""
    return batch.channel is Channel.OBSERVED and batch.reporter == GREEN_AGENT


def carried_calls(batches: Iterable[ReportBatch], roster: Roster) -> list[CarriedCall]:
    """The carried calls between two different participants, in the order in which they began.

    Calls that the gateway refused for a limit of its own are left out.
    """
    reports = (report for batch in filter(is_observed, batches) for report in reports_of(batch))
    found = {call.step_id: call for report in reports if (call := _call(report, roster)) is not None}
    return sorted(found.values(), key=lambda call: (call.began, call.step_id))


def _call(report: Report, roster: Roster) -> CarriedCall | None:
    step = report.step
    invocation = step.agent_call
    caller = step.additional_attributes.get("agent_name", "")
    if invocation is None or caller not in roster or step.additional_attributes.get(REFUSED_BY):
        return None
    callee = participant_of(roster.resolve(invocation.agent_url, invocation.agent_name))
    if callee not in roster or callee == caller:
        return None
    asked = invocation.requests or {}
    return CarriedCall(
        step_id=step.step_id,
        caller=caller,
        callee=callee,
        request=tuple(text for key in ("text", WORDS_FIELD) if isinstance(text := asked.get(key), str)),
        answer=tuple(filter(None, map(step.additional_attributes.get, ("response_text", RESPONSE_WORDS)))),
        failed=step.failure is not None,
        began=_moment(step.start_time),
        ended=_moment(step.end_time),
    )


def _moment(told: datetime | None) -> datetime:
    return _UNKNOWN if told is None else as_utc(told)

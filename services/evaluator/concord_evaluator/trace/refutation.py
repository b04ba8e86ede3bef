"""Refutation: what is left of claims where every call between participants had to pass before our eyes."""

from collections import Counter
from collections.abc import Iterable

from concord.assessment.roster import Roster
from concord.trust.proxy_urls import is_proxy_url
from concord_evaluator.trace.claims import Attempt
from concord_evaluator.trace.contradictions import Contradictions
from concord_evaluator.trace.interactions import Provenance
from concord_evaluator.trace.names import participant_of


def without_refuted(attempts: Iterable[Attempt], roster: Roster, refuted: Contradictions) -> list[Attempt]:
    """The attempts (given sorted) that stand in an observed trace, in their order; the others go to `refuted`.

    A claimed call of one participant by another that nobody saw is no call, unless it names an address past the
    proxy, where we do not see. As many claims as calls were seen between the two that nobody told of under their own
    ids are these calls, told under others: they are left out without a charge. So is a failed call, which may have
    failed on its way to us: nothing is known of it, and nobody gains by it.
    """
    attempts = list(attempts)
    untold = Counter(
        _ends(attempt) for attempt in attempts if attempt.provenance is Provenance.OBSERVED and not attempt.others
    )
    standing: list[Attempt] = []
    for attempt in attempts:
        if not _should_have_been_seen(attempt, roster):
            standing.append(attempt)
        elif untold[_ends(attempt)]:
            untold[_ends(attempt)] -= 1
        elif not attempt.record.failed:
            refuted.add(attempt.record, attempt.caller, attempt.callee)
    return standing


def _should_have_been_seen(attempt: Attempt, roster: Roster) -> bool:
    caller, callee = _ends(attempt)
    if attempt.provenance is Provenance.OBSERVED or caller == callee or caller not in roster or callee not in roster:
        return False
    return not attempt.record.callee_url or is_proxy_url(attempt.record.callee_url)


def _ends(attempt: Attempt) -> tuple[str, str]:
    return participant_of(attempt.caller), participant_of(attempt.callee)

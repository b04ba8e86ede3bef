"""Why traces failed: groups of one outcome, failing agent and error text, the largest group of failures first. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.report.traces.runs import RunFacts

MAX_GROUPS: Final = 50
"""Groups beyond these are one group, of other failures."""

MAX_LISTED: Final = 1000
"""Traces that the page lists, each with a page of its own. All groups have some."""

_VARYING: Final = re.compile(r"\b(?:0x)?(?=[a-f]*\d)[0-9a-f]{8,}\b|\d+\.\d+|\d{4,}", re.IGNORECASE)
"""Identifiers, addresses and measured numbers in an error. A short number may be a code, which tells errors apart."""


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Traces with the same outcome whose first failure is of the same agent and says the same.

    `agent`: None without a failure; `error`: the commonest text; `listed`: those of the traces that the page lists.
    """

    outcome: str
    agent: str | None
    error: str
    handled: bool
    runs: Sequence[RunFacts]
    listed: Sequence[RunFacts]

    @property
    def failed(self) -> bool:
        """Whether anything failed in these traces, or they did not pass."""
        return bool(self.error) or self.outcome.startswith("failed")


def groups_of(runs: Sequence[RunFacts]) -> list[FailureGroup]:
    """The groups: those with failures first, each kind by size, the largest first."""
    alike: defaultdict[tuple[str, str | None, str, bool], list[RunFacts]] = defaultdict(list)
    for run in runs:
        alike[run.outcome, run.agent, _VARYING.sub("…", run.error), run.handled].append(run)
    ranked = sorted(alike.items(), key=lambda item: (-len(item[1]), item[0][0], item[0][1] or "", item[0][2:]))
    ranked.sort(key=lambda item: not (item[0][2] or item[0][0].startswith("failed")))
    kept, rest = ranked[: MAX_GROUPS - 1], ranked[MAX_GROUPS - 1 :]
    if len(rest) > 1:
        others = [run for _, members in rest for run in members]
        rest = [(("various", None, f"{len(rest)} other kinds", False), others)]
    found = [*kept, *rest]
    share = MAX_LISTED // max(1, len(found))
    left = MAX_LISTED - sum(min(share, len(members)) for _, members in found)
    groups = []
    for (outcome, agent, error, handled), members in found:
        more = min(left, max(0, len(members) - share))
        left -= more
        texts = Counter(run.error for run in members)
        told = error if outcome == "various" else texts.most_common(1)[0][0]
        groups.append(FailureGroup(outcome, agent, told, handled, members, members[: share + more]))
    return groups

"""How far to trust the result: which calls could be observed, their provenance, and failures."""

from dataclasses import dataclass

from concord.assessment.results import TraceIntegrity
from concord_cli.display_text import named, on_one_line
from concord_cli.number_text import percent
from concord_cli.row_view.failures import failure_text
from concord_cli.row_view.interactions import REMEDY, unobserved_text
from concord_cli.row_view.scope import Scope


@dataclass(frozen=True, slots=True)
class Share:
    """The share of calls with one provenance, as a segment of a bar."""

    kind: str
    count: int
    meaning: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Count:
    """A number of steps and its meaning; `doubtful`: it makes the result less certain."""

    name: str
    count: int
    meaning: str
    doubtful: bool


@dataclass(frozen=True, slots=True)
class TrustView:
    """Provenance, observability, integrity, and infrastructure failures.

    `unseen`: the participants whose calls could not be observed, None if there are none; `seen`: each participant with
    what could be observed of it.
    """

    unseen: str | None
    remedy: tuple[str, ...]
    seen: list[tuple[str, str]]
    provenance: list[Share]
    counts: list[Count]
    completeness: str | None
    infrastructure: list[str]


_PROVENANCE = {
    "observed": "the gateway made or carried the call",
    "corroborated": "both ends reported it",
    "reported": "one end reported it",
}
_INTEGRITY = {
    "contradicted": "claimed by an agent, and not observed by the gateway",
    "conflicting": "reported in different versions; not part of the graph",
    "duplicate": "reported again without a change; counted once",
    "late": "arrived after the trial was closed; not stored",
    "dropped": "lost before they were stored",
}
_SEEN = {"full": "its calls", "partly": "calls to it, not its own", "none": "nothing"}
_HARMLESS = frozenset({"duplicate"})


def trust_of(scope: Scope) -> TrustView:
    """The view for a scope."""
    integrity = scope.integrity
    failures = [
        f"{on_one_line(failure.trial_id) if failure.trial_id is not None else 'Assessment'}: "
        f"{on_one_line(failure_text(failure))}"
        for failure in scope.row.detail.infrastructure
        if scope.trial_id in (None, failure.trial_id)
    ]
    unseen = unobserved_text(integrity)
    return TrustView(
        unseen=None if unseen is None else on_one_line(unseen),
        remedy=REMEDY,
        seen=[(on_one_line(each.agent), _SEEN[each.observability]) for each in integrity.participants],
        provenance=_shares(integrity),
        counts=[_count(kind, getattr(integrity, kind), meaning) for kind, meaning in _INTEGRITY.items()],
        completeness=None if integrity.completeness is None else percent(round(integrity.completeness, 3)),
        infrastructure=failures,
    )


def _shares(integrity: TraceIntegrity) -> list[Share]:
    counts = {kind: max(0, getattr(integrity, kind)) for kind in _PROVENANCE}
    total = sum(counts.values()) or 1
    shares, x = [], 0.0
    for kind, meaning in _PROVENANCE.items():
        share = counts[kind] / total
        if counts[kind]:
            shares.append(Share(kind, counts[kind], meaning, percent(x), percent(share)))
        x += share
    return shares


def _count(kind: str, count: int, meaning: str) -> Count:
    return Count(named(kind), count, meaning, doubtful=count > 0 and kind not in _HARMLESS)

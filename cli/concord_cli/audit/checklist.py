"""The Agentic Benchmark Checklist (arXiv 2507.02825): which items a target meets, by what was tried and seen. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.audit.flaws import Outcome, Shown, Status, Tried

ITEMS: Final = {
    "T.1": "versions are stated",
    "T.2": "the interfaces that an agent needs are there",
    "T.3": "their failure is handled",
    "T.4": "no state is left between runs",
    "T.5": "there is no access to the truth",
    "T.6": "the set-up does not change by itself",
    "T.7": "the truth is verified",
    "T.8": "each task is solvable",
    "T.9": "an oracle solves it",
    "T.10": "there is no shortcut",
    "O.a.1": "equivalent expressions count",
    "O.a.2": "redundant words do no harm",
    "O.b.1": "negation is understood",
    "O.b.2": "listing all candidates does not pay",
    "O.b.3": "the truth cannot be guessed",
    "O.c.1": "the judge's agreement with people is shown",
    "O.c.2": "the judge resists attacks",
    "O.d": "tests are verified, and their quality is measured",
    "O.e": "fuzzing covers edge cases",
    "O.f": "the evaluation is not flaky",
    "O.g.1": "all states that success may reach are accepted",
    "O.g.2": "relevant and irrelevant states are checked",
    "O.g.3": "trivial changes do not reach success",
    "O.h.1": "the answer's format is stated",
    "O.h.2": "guessing pays little",
    "O.i": "quality measures cannot be exploited",
    "R.1": "open source",
    "R.2": "an open harness",
    "R.3": "contamination is prevented",
    "R.4": "tasks can be renewed",
    "R.5": "ability and measure are related in words",
    "R.6": "what is evaluated is stated",
    "R.7": "steps against flaws are stated",
    "R.8": "their effect is discussed",
    "R.9": "their effect is quantified",
    "R.10": "intervals are given",
    "R.11": "there is guidance on reading results",
    "R.12": "there are baselines that are no AI",
    "R.13": "trivial agents are measured",
}
"""All items, in our words."""

NOT_OF_TASKS: Final = frozenset({"T.2", "O.g.1", "R.1", "R.2", "R.5", "R.6", "R.7", "R.8", "R.9", "R.11"})
"""Items that are of the harness or of a publication, which docs/integrity.md answers for Concord."""

OF_HARNESS: Final = "of the harness: see docs/integrity.md"

NOT_TRIED: Final = "nothing in these tasks is of that kind"

MAX_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Item:
    """An item, whether it is met, and by what that is shown."""

    id: str
    status: Status | Outcome
    by: str


def answered(tried: Sequence[Tried], shown: Sequence[Shown]) -> Iterator[Item]:
    """Every item, by the worst of what bears on it."""
    for item in ITEMS:
        on = [each for each in tried if item in each.attack.items]
        found = [(_STATUS[each.outcome], f"{each.attack.name} on {each.subject}: {each.shown}") for each in on]
        found += [(each.status, f"{each.subject}: {each.by}") for each in shown if each.item == item]
        status = next((worst for worst in _WORST_FIRST if any(worst is each for each, _ in found)), None)
        if status is None:
            yield Item(item, Outcome.NOT_APPLICABLE, OF_HARNESS if item in NOT_OF_TASKS else NOT_TRIED)
            continue
        by = list(dict.fromkeys(text for each, text in found if each is status))
        more = f"; and {len(by) - MAX_SHOWN} more" if len(by) > MAX_SHOWN else ""
        yield Item(item, status, "; ".join(by[:MAX_SHOWN]) + more)


_STATUS: Final = {
    Outcome.EARNED: Status.NOT_MET,
    Outcome.HELD: Status.MET,
    Outcome.NOT_APPLICABLE: Outcome.NOT_APPLICABLE,
}
_WORST_FIRST: Final = (Status.NOT_MET, Status.NOT_KNOWN, Status.MET, Outcome.NOT_APPLICABLE)
